// recurrent_s16: LSTM, GRU and RNN of few samples with weights in fixed point of 16 bits: a step of one sample is bound by reading them. Of
// each gate, columns are padded to whole vectors.
#include <algorithm>

#include "backends/cpu/gemm/weights_fixed.h"
#include "backends/cpu/kernels/product/gemv_s16.h"
#include "backends/cpu/tactics/recurrent/recurrent_run_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kLanes = 16, kMostRows = GemvS16Kernels::kMostRows;
const GemvS16Kernels& s16() { return tenfold_gemv_s16_vnni; }

RecurrentExtents extents(const Problem& p) { return {p, kLanes, kLanes}; }
FixedWeights weights_of(const RecurrentExtents& e, int operand) { return {e.depth(operand), e.row(), FixedWeights::Order::pairs}; }

Verdict supports(const Problem& p) {
  if (!(p.device->features & kVnni)) return Verdict::no("this machine has no AVX512_VNNI");
  return supports_recurrent(p);
}

// {parts of a step's units}: above 1, a core hands its part to others after each step, which takes half a microsecond.
std::vector<Config> configs(const Problem& p) {
  const RecurrentExtents e = extents(p);
  std::vector<Config> all{{1}};
  for (const int64_t parts : {2, 4})
    if (e.row() * e.hidden >= parts << 15) all.push_back({parts});
  return all;
}
Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 1) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] <= 64, "its number of parts is out of range");
}

int64_t packed_bytes(const Problem& p, const Config&, int input) {
  const RecurrentExtents e = extents(p);
  return input == 1 || input == 2 ? e.directions * weights_of(e, input).bytes() : -1;
}
// The transposed weights of one direction, [depth][gate][unit, padded].
void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const RecurrentExtents e = extents(p);
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
  const RecurrentExtents e = extents(p);
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

ir::Dim workspace(const Problem& p, const Config&) { return recurrent_workspace(p, extents(p)); }

// Of a worker: both parts of a few rows.
ir::Dim worker_scratch(const Problem& p, const Config&) {
  const RecurrentExtents e = extents(p);
  return kMostRows * 4 * std::max(weights_of(e, 1).depth(), weights_of(e, 2).depth());
}

struct Kernel final : RecurrentKernel {
  Kernel(const Problem& p, const Config& c) : RecurrentKernel(p, extents(p)), fixed{weights_of(e, 1), weights_of(e, 2)}, unit_parts(c[0]) {}
  void add(const RunArgs& args, const RecurrentProduct& p, int worker) const noexcept override {
    const FixedWeights& w = fixed[p.operand - 1];
    const char* packed = args.in[static_cast<std::size_t>(p.operand)].as<const char>() + p.direction * w.bytes();
    for (int64_t row = 0; row < p.rows; row += kMostRows) {
      RecurrentProduct few = p;
      few.x += row * p.x_row, few.out += row * p.out_row, few.rows = std::min(kMostRows, p.rows - row);
      if (w.ordinary(packed) && multiply(w, packed, few, e.padded, args.scratch_of<std::int32_t>(worker))) continue;
      for (int64_t gate = 0; gate < p.gates; ++gate) multiply_whole(w, packed, few, gate * e.padded);
    }
  }

  FixedWeights fixed[2];   // of W and R
  int64_t unit_parts;

 private:
  // False where fixed point cannot hold a row.
  static bool multiply(const FixedWeights& w, const void* packed, const RecurrentProduct& p, int64_t padded, std::int32_t* parts) noexcept {
    float scale[kMostRows];
    for (int64_t r = 0; r < p.rows; ++r)
      if (!s16().split(p.x + r * p.x_row, w.balance(packed), w.k(), parts + r * w.depth(), scale + r)) return false;
    GemvS16Tile g{.rows = parts, .row_scale = scale, .pairs = w.depth() / 2, .used = used_pairs(w.k())};
    for (int64_t i = 0; i < p.gates; ++i) multiply_gate(w, packed, p, (p.backwards ? p.gates - 1 - i : i) * padded, g);
    return true;
  }
  static void multiply_gate(const FixedWeights& w, const void* packed, const RecurrentProduct& p, int64_t gate, GemvS16Tile g) noexcept {
    const int64_t begin = p.first + gate, end = begin + p.count, most = s16().panels[p.rows - 1] * kLanes;
    // Columns at once, from the left or before `column` from the right: they are of one group.
    for (int64_t column = p.backwards ? end : begin, columns = 0; p.backwards ? column > begin : column < end;) {
      const int64_t group = (column - p.backwards) / FixedWeights::kGroup, at = group * FixedWeights::kGroup;
      columns = p.backwards ? std::min({most, column - begin, column - at}) : std::min({most, end - column, at + FixedWeights::kGroup - column});
      if (p.backwards) column -= columns;
      const int64_t inside = column - at;
      g.pair_step = w.group_panels(group) * 32;
      g.weights = reinterpret_cast<const std::int16_t*>(w.columns(packed, group * FixedWeights::kGroup)) + inside * 2;
      g.step = w.step(packed) + column;
      float* const out = p.out + column - p.first;
      const GemmF32EpilogueArgs sum{.residual = out, .residual_stride = p.out_row};
      const GemmF32Tile tile{.c = out, .c_stride = p.out_row, .cols = columns, .epilogue = &sum};
      s16().product[p.rows - 1][columns / kLanes - 1](g, tile);
      if (!p.backwards) column += columns;
    }
  }
  static void multiply_whole(const FixedWeights& w, const void* packed, const RecurrentProduct& p, int64_t gate) noexcept {
    constexpr int64_t kColumns = FixedWeights::kPanel;
    double decoded[kColumns], sums[kMostRows][kColumns];
    for (int64_t done = 0; done < p.count; done += kColumns) {
      std::fill_n(sums[0], kMostRows * kColumns, 0.0);
      for (int64_t i = 0; i < w.k(); ++i) {
        w.decode(packed, i, i + 1, p.first + gate + done, decoded);
        for (int64_t r = 0; r < p.rows; ++r)
          for (int64_t c = 0; c < kColumns; ++c) sums[r][c] += double{p.x[r * p.x_row + i]} * decoded[c];
      }
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t c = 0; c < std::min(kColumns, p.count - done); ++c)
          p.out[r * p.out_row + gate + done + c] += static_cast<float>(sums[r][c]);
    }
  }
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::shared_ptr<const RecurrentKernel>(std::make_shared<Kernel>(p, c));
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = static_cast<const Kernel&>(*static_cast<const RecurrentKernel*>(self));
  RecurrentRun(kernel, args).all(kernel.unit_parts, kLanes);
  return Status::ok;
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
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, recurrent_work});
}

}  // namespace tenfold::backends
