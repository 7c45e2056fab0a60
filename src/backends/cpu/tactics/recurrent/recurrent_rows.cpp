// recurrent_rows: LSTM, GRU and RNN: one product over all steps for the input, then step by step for the state. Weights are
// packed gate by gate into panels; gates are padded to whole vectors or panels. Weights of 8 bits become floats, for machines that have no
// kernel for them.
#include <cmath>
#include <cstring>

#include "backends/cpu/tactics/recurrent/recurrent_run_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

// A GRU's candidate is a product of its own, which begins at a panel.
RecurrentExtents extents(const Problem& p) {
  const RecurrentKernels& kernels = recurrent_kernels(p);
  return {p, p.op->name == "LSTM" || p.op->name == "RNN" ? kernels.units : kernels.panel, kernels.panel};
}

bool has_bytes(const Problem& p) { return p.in[1].dtype == DType::i8; }

// Behind the floats, if there were bytes: the scale of each row of the weights.
std::int64_t panel_bytes(const RecurrentExtents& e, int input) { return e.directions * e.row() * e.depth(input) * 4; }
std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
  const RecurrentExtents e = extents(p);
  if (input != 1 && input != 2) return -1;
  return panel_bytes(e, input) + (has_bytes(p) ? e.gates * e.hidden * 4 : 0);
}
// f(offset in the packing, offset in the weight) for every element of W or R.
template <class F>
void for_packing(const Problem& p, int input, F&& f) {
  const RecurrentExtents e = extents(p);
  const int64_t depth = e.depth(input), panel = recurrent_kernels(p).panel;
  for (int64_t d = 0; d < e.directions; ++d)
    for_recurrent_weights(e, input, d, [&](int64_t gate, int64_t unit, int64_t i, int64_t at) {
      const int64_t column = gate * e.padded + unit;
      f(d * e.row() * depth + column / panel * panel * depth + i * panel + column % panel, at);
    });
}
void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(p, c, input)));
  if (has_bytes(p)) {
    const RecurrentExtents e = extents(p);
    const auto* bytes = constants[static_cast<std::size_t>(input)]->data<std::int8_t>();
    const Tensor& scales = *constants[static_cast<std::size_t>(input) + 6];
    std::memcpy(static_cast<char*>(packed) + panel_bytes(e, input), scales.raw(), static_cast<std::size_t>(scales.bytes()));
    for_packing(p, input, [&](int64_t to, int64_t at) {
      static_cast<float*>(packed)[to] = static_cast<float>(bytes[at]) * scales.data<float>()[at / e.depth(input)];
    });
    return;
  }
  const float* from = constants[static_cast<std::size_t>(input)]->data<float>();
  for_packing(p, input, [&](int64_t to, int64_t at) { static_cast<float*>(packed)[to] = from[at]; });
}
Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  if (has_bytes(p)) {
    const RecurrentExtents e = extents(p);
    Tensor bytes(DType::i8, ir::constants(p.in[static_cast<std::size_t>(input)].dims));
    const auto* scales = reinterpret_cast<const float*>(static_cast<const char*>(packed) + panel_bytes(e, input));
    for_packing(p, input, [&](int64_t from, int64_t at) {
      const float scale = scales[at / e.depth(input)], value = static_cast<const float*>(packed)[from];
      bytes.mutable_data<std::int8_t>()[at] = static_cast<std::int8_t>(std::abs(value / scale) < 129 ? std::lrint(value / scale) : 0);
    });
    return bytes;
  }
  Tensor weights(DType::f32, ir::constants(p.in[static_cast<std::size_t>(input)].dims));
  float* to = weights.mutable_data<float>();
  for_packing(p, input, [&](int64_t from, int64_t at) { to[at] = static_cast<const float*>(packed)[from]; });
  return weights;
}

struct Kernel final : RecurrentKernel {
  explicit Kernel(const Problem& p) : RecurrentKernel(p, extents(p)) {}
  void add(const RunArgs& args, const RecurrentGemm& p, int) const noexcept override {
    const std::int64_t depth = e.depth(p.operand);
    const float* const weights = args.in[static_cast<std::size_t>(p.operand)].as<const float>() + p.direction * e.row() * depth;
    const auto add_columns = [&](std::int64_t gate, std::int64_t column, std::int64_t count) {
      kernels->product(p.x, p.x_row, p.rows, depth, weights + (p.first + gate * e.padded + column) * depth, count,
                       p.out + gate * e.padded + column, p.out_row, true);
    };
    for (std::int64_t gate = 0; gate < p.gates && !p.backwards; ++gate) add_columns(gate, 0, p.count);
    for (std::int64_t gate = p.gates; gate-- > 0 && p.backwards;)
      for (std::int64_t column = (p.count - 1) / e.panel * e.panel; column >= 0; column -= e.panel)
        add_columns(gate, column, std::min(e.panel, p.count - column));
  }
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::shared_ptr<const RecurrentKernel>(std::make_shared<Kernel>(p));
}
ir::Dim workspace(const Problem& p, const Config&) { return recurrent_workspace(p, extents(p)); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const RecurrentKernel*>(self);
  RecurrentRun(kernel, args).all(1, kernel.kernels->panel);
  return Status::ok;
}

}  // namespace

Tactic cpu_recurrent_rows() {
  return packed_tactic({.name = "recurrent_rows",
                        .version = 3,
                        .ops = {{"GRU", "gru_rows"}, {"LSTM", "lstm_rows"}, {"RNN", "rnn_rows"}, {"RecurrentInt8", "int8_rows"}},
                        .workspace = workspace,
                        .cases = {"LSTM f32[7,4,30] f32[1,160,30]! f32[1,160,40]! f32[1,320] outputs=3",
                                  "LSTM f32[5,1,30] f32[2,20,30]! f32[2,20,5]! f32[2,40]! _ f32[2,1,5] f32[2,1,5] "
                                  "direction=\"bidirectional\" outputs=3",
                                  "LSTM f32[2,5,3] f32[1,20,3]! f32[1,20,5]! layout=1 direction=\"reverse\" outputs=3",
                                  "GRU f32[7,4,30] f32[1,120,30]! f32[1,120,40]! f32[1,240] outputs=2",
                                  "GRU f32[5,2,30] f32[2,15,30]! f32[2,15,5]! f32[2,30]! _ f32[2,2,5] "
                                  "direction=\"bidirectional\" linear_before_reset=1 outputs=2",
                                  "RNN f32[7,4,30] f32[1,40,30]! f32[1,40,40]! f32[1,80] outputs=2",
                                  "RNN f32[5,2,30] f32[2,5,30]! f32[2,5,5]! f32[2,10]! _ f32[2,2,5] direction=\"bidirectional\" "
                                  "activations=[\"Relu\",\"Relu\"] outputs=2",
                                  "RecurrentInt8 f32[5,4,30] i8[1,90,30]! i8[1,90,30]! f32[1,180] _ f32[1,4,30] _ f32[90](0.001,0.01)! "
                                  "f32[90](0.001,0.01)! cell=\"GRU\" linear_before_reset=1 direction=\"reverse\" outputs=2"}},
                       {supports_recurrent, one_config, nullptr, packed_bytes, pack, unpack, open, run, recurrent_work});
}

}  // namespace tenfold::backends
