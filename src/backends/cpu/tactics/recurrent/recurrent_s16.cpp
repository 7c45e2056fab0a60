// recurrent_s16: LSTM, GRU and RNN of few samples with weights in fixed point of 16 bits.
#include "backends/cpu/tactics/recurrent/recurrent_fixed_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

FixedWeights weights_of(const RecurrentExtents& e, int operand) { return {e.depth(operand), e.row(), FixedWeights::Order::pairs}; }

Verdict supports(const Problem& p) {
  if (!(p.device->features & kVnni)) return Verdict::no("this machine has no AVX512_VNNI");
  return supports_recurrent(p);
}

int64_t packed_bytes(const Problem& p, const Config&, int input) {
  const RecurrentExtents e = fixed_extents(p);
  return input == 1 || input == 2 ? e.directions * weights_of(e, input).bytes() : -1;
}
// The transposed weights of one direction, [depth][gate][unit, padded].
void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const RecurrentExtents e = fixed_extents(p);
  const FixedWeights fixed = weights_of(e, input);
  const float* from = constants[static_cast<std::size_t>(input)]->data<float>();
  std::vector<float> columns(static_cast<std::size_t>(e.depth(input) * e.row()));
  for (int64_t d = 0; d < e.directions; ++d) {
    for_recurrent_weights(e, input, d, [&](int64_t gate, int64_t unit, int64_t i, int64_t at) {
      columns[static_cast<std::size_t>(i * e.row() + gate * e.padded + unit)] = from[at];
    });
    fixed.pack(columns.data(), static_cast<char*>(packed) + d * fixed.bytes());
  }
}
Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  const RecurrentExtents e = fixed_extents(p);
  const FixedWeights fixed = weights_of(e, input);
  Tensor weights(DType::f32, ir::constants(p.in[static_cast<std::size_t>(input)].dims));
  float* to = weights.mutable_data<float>();
  std::vector<float> columns(static_cast<std::size_t>(e.depth(input) * e.row()));
  for (int64_t d = 0; d < e.directions; ++d) {
    fixed.unpack(static_cast<const char*>(packed) + d * fixed.bytes(), columns.data());
    for_recurrent_weights(e, input, d, [&](int64_t gate, int64_t unit, int64_t i, int64_t at) {
      to[at] = columns[static_cast<std::size_t>(i * e.row() + gate * e.padded + unit)];
    });
  }
  return weights;
}

ir::Dim workspace(const Problem& p, const Config&) { return recurrent_workspace(p, fixed_extents(p)); }

// Of a worker: both parts of a few rows.
ir::Dim worker_scratch(const Problem& p, const Config&) {
  const RecurrentExtents e = fixed_extents(p);
  return kMaxFixedRows * 4 * std::max(weights_of(e, 1).depth(), weights_of(e, 2).depth());
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const RecurrentExtents e = fixed_extents(p);
  return std::shared_ptr<const RecurrentKernel>(std::make_shared<FixedKernel<FixedWeights>>(p, c, weights_of(e, 1), weights_of(e, 2)));
}

}  // namespace

Tactic cpu_recurrent_s16() {
  return packed_tactic({.name = "recurrent_s16",
                        .ops = {{"GRU", "gru_s16"}, {"LSTM", "lstm_s16"}, {"RNN", "rnn_s16"}},
                        .rounds_f32 = true,
                        .workspace = workspace,
                        .worker_scratch = worker_scratch,
                        .cases = {"LSTM f32[9,1,130] f32[1,560,130]! f32[1,560,140]! f32[1,1120] outputs=3 numerics={round_to=tf32}",
                                  "LSTM f32[5,4,30] f32[2,20,30]! f32[2,20,5]! f32[2,40]! _ f32[2,4,5] f32[2,4,5] "
                                  "direction=\"bidirectional\" outputs=3 numerics={round_to=tf32}",
                                  "LSTM f32[4,4,30] f32[1,520,30]! f32[1,520,130]! f32[1,1040] outputs=3 numerics={round_to=tf32}",
                                  "GRU f32[3,1,30] f32[1,600,30]! f32[1,600,200]! f32[1,1200] outputs=2 linear_before_reset=1 "
                                  "numerics={round_to=tf32}",
                                  "GRU f32[7,2,30] f32[1,120,30]! f32[1,120,40]! f32[1,240] outputs=2 numerics={round_to=tf32}",
                                  "GRU f32[5,1,30] f32[2,15,30]! f32[2,15,5]! f32[2,30]! _ f32[2,1,5] "
                                  "direction=\"bidirectional\" linear_before_reset=1 outputs=2 numerics={round_to=tf32}",
                                  "RNN f32[3,1,30] f32[1,130,30]! f32[1,130,130]! f32[1,260] outputs=2 numerics={round_to=tf32}",
                                  "RNN f32[5,2,30] f32[1,40,30]! f32[1,40,40]! f32[1,80] activations=[\"Relu\"] outputs=2 "
                                  "numerics={round_to=tf32}"}},
                       {supports, fixed_configs, valid_fixed, packed_bytes, pack, unpack, open, run_fixed<FixedWeights>, recurrent_work});
}

}  // namespace tenfold::backends
