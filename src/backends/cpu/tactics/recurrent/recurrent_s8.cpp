// recurrent_s8: RecurrentInt8 of few samples: weights of 8 bits as the model has them, and 20 bits of what multiplies them.
#include "backends/cpu/tactics/recurrent/recurrent_fixed_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

ByteWeights weights_of(const RecurrentExtents& e, int operand) { return {e.depth(operand), e.row()}; }

Verdict supports(const Problem& p) {
  if (!(p.device->features & kVnni)) return Verdict::no("this machine has no AVX512_VNNI");
  return supports_recurrent(p);
}

int64_t packed_bytes(const Problem& p, const Config&, int input) {
  const RecurrentExtents e = fixed_extents(p);
  return input == 1 || input == 2 ? weights_of(e, input).bytes() : -1;
}
// The transposed weights, [depth][gate][unit, padded], and a scale for each column.
void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const RecurrentExtents e = fixed_extents(p);
  const auto* from = constants[static_cast<std::size_t>(input)]->data<std::int8_t>();
  const float* scales = constants[static_cast<std::size_t>(input) + 6]->data<float>();
  std::vector<std::int8_t> columns(static_cast<std::size_t>(e.depth(input) * e.row()));
  std::vector<float> steps(static_cast<std::size_t>(e.row()));
  for_recurrent_weights(e, input, 0, [&](int64_t gate, int64_t unit, int64_t i, int64_t at) {
    columns[static_cast<std::size_t>(i * e.row() + gate * e.padded + unit)] = from[at];
    steps[static_cast<std::size_t>(gate * e.padded + unit)] = scales[gate * e.hidden + unit];
  });
  weights_of(e, input).pack(columns.data(), steps.data(), packed);
}
Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  const RecurrentExtents e = fixed_extents(p);
  Tensor weights(DType::i8, ir::constants(p.in[static_cast<std::size_t>(input)].dims));
  for_recurrent_weights(e, input, 0, [&](int64_t gate, int64_t unit, int64_t i, int64_t at) {
    weights.mutable_data<std::int8_t>()[at] = weights_of(e, input).at(packed, i, gate * e.padded + unit);
  });
  return weights;
}

ir::Dim workspace(const Problem& p, const Config&) { return recurrent_workspace(p, fixed_extents(p)); }
ir::Dim worker_scratch(const Problem& p, const Config&) {   // both parts of a few rows
  const RecurrentExtents e = fixed_extents(p);
  return kMaxFixedRows * 4 * std::max(weights_of(e, 1).depth(), weights_of(e, 2).depth());
}
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const RecurrentExtents e = fixed_extents(p);
  return std::shared_ptr<const RecurrentKernel>(std::make_shared<FixedKernel<ByteWeights>>(p, c, weights_of(e, 1), weights_of(e, 2)));
}

}  // namespace

Tactic cpu_recurrent_s8() {
  return packed_tactic({.name = "recurrent_s8",
                        .ops = {{"RecurrentInt8"}},
                        .rounds_f32 = true,
                        .workspace = workspace,
                        .worker_scratch = worker_scratch,
                        .cases = {"RecurrentInt8 f32[9,1,130] i8[1,560,130]! i8[1,560,140]! f32[1,1120] _ _ _ f32[560](0.001,0.01)! "
                                  "f32[560](0.001,0.01)! outputs=3 numerics={round_to=tf32}",
                                  "RecurrentInt8 f32[5,4,30] i8[1,90,30]! i8[1,90,30]! f32[1,180] _ f32[1,4,30] _ f32[90](0.001,0.01)! "
                                  "f32[90](0.001,0.01)! cell=\"GRU\" linear_before_reset=1 direction=\"reverse\" outputs=2 "
                                  "numerics={round_to=tf32}",
                                  "RecurrentInt8 f32[5,2,30] i8[1,40,30]! i8[1,40,40]! _ _ _ _ f32[40](0.001,0.01)! f32[40](0.001,0.01)! "
                                  "cell=\"RNN\" activation=\"Relu\" outputs=2 numerics={round_to=tf32}"}},
                       {supports, fixed_configs, valid_fixed, packed_bytes, pack, unpack, open, run_fixed<ByteWeights>, recurrent_work});
}

}  // namespace tenfold::backends
