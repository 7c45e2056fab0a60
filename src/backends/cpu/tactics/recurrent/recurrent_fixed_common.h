// What the tactics of LSTM, GRU and RNN with weights in fixed point share: products with FixedWeights or ByteWeights. A step of one sample
// is bound by reading them. Of each gate, columns are padded to whole vectors.
#pragma once

#include <algorithm>

#include "backends/cpu/gemm/weights/decode_loops.h"
#include "backends/cpu/gemm/weights/weights_bytes.h"
#include "backends/cpu/gemm/weights/weights_fixed.h"
#include "backends/cpu/kernels/gemm/gemv_s16.h"
#include "backends/cpu/tactics/recurrent/recurrent_run_common.h"

namespace tenfold::backends::cpu {

constexpr std::int64_t kFixedLanes = 16, kMaxFixedRows = GemvS16Kernels::kMaxRows;
inline const GemvS16Kernels& s16() { return tenfold_gemv_s16_vnni; }
inline void set_weights(GemvS16Tile& g, const FixedWeights&, const char* at, std::int64_t inside) {
  g.weights = reinterpret_cast<const std::int16_t*>(at) + inside * 2;
}
inline void set_weights(GemvS16Tile& g, const ByteWeights&, const char* at, std::int64_t inside) {
  g.bytes = reinterpret_cast<const std::int8_t*>(at) + inside * 2;
}
inline auto product_with(const FixedWeights&, std::int64_t rows, std::int64_t panels) { return s16().product[rows - 1][panels - 1]; }
inline auto product_with(const ByteWeights&, std::int64_t rows, std::int64_t panels) { return s16().gemm_bytes[rows - 1][panels - 1]; }

inline RecurrentExtents fixed_extents(const Problem& p) { return {p, kFixedLanes, kFixedLanes}; }
// {parts of a step's units}: above 1, a core hands its part to others after each step, which takes half a microsecond.
std::vector<Config> fixed_configs(const Problem& p);
Verdict valid_fixed(const Problem& p, const Config& c);

template <class Weights>
struct FixedKernel final : RecurrentKernel {
  FixedKernel(const Problem& p, const Config& c, const Weights& w, const Weights& r)
      : RecurrentKernel(p, fixed_extents(p)), weights{w, r}, unit_parts(c[0]) {}
  void add(const RunArgs& args, const RecurrentGemm& p, int worker) const noexcept override {
    const Weights& w = weights[p.operand - 1];
    const char* packed = args.in[static_cast<std::size_t>(p.operand)].as<const char>() + p.direction * w.bytes();
    for (std::int64_t row = 0; row < p.rows; row += kMaxFixedRows) {
      RecurrentGemm few = p;
      few.x += row * p.x_row, few.out += row * p.out_row, few.rows = std::min(kMaxFixedRows, p.rows - row);
      add_few(w, packed, few, args.scratch_of<std::int32_t>(worker));
    }
  }

  Weights weights[2];   // W and R
  std::int64_t unit_parts;

 private:
  // What fixed point cannot hold goes in floating point, each row alone, so that it does not slow the others down.
  void add_few(const Weights& w, const void* packed, const RecurrentGemm& p, std::int32_t* parts) const noexcept {
    const bool ordinary = w.ordinary(packed);
    if (ordinary && multiply(w, packed, p, e.padded, parts)) return;
    for (std::int64_t r = 0; ordinary && p.rows > 1 && r < p.rows; ++r) {
      RecurrentGemm one = p;
      one.x += r * p.x_row, one.out += r * p.out_row, one.rows = 1;
      add_few(w, packed, one, parts);
    }
    for (std::int64_t gate = 0; (!ordinary || p.rows == 1) && gate < p.gates; ++gate) multiply_whole(w, packed, p, gate * e.padded);
  }
  // False where fixed point cannot hold a row.
  static bool multiply(const Weights& w, const void* packed, const RecurrentGemm& p, std::int64_t padded, std::int32_t* parts) noexcept {
    float scale[kMaxFixedRows];
    for (std::int64_t r = 0; r < p.rows; ++r)
      if (!s16().split(p.x + r * p.x_row, w.balance(packed), w.k(), parts + r * w.depth(), scale + r)) return false;
    GemvS16Tile g{.rows = parts, .row_scale = scale, .pairs = w.depth() / 2, .used = used_pairs(w.k())};
    for (std::int64_t i = 0; i < p.gates; ++i) multiply_gate(w, packed, p, (p.backwards ? p.gates - 1 - i : i) * padded, g);
    return true;
  }
  static void multiply_gate(const Weights& w, const void* packed, const RecurrentGemm& p, std::int64_t gate, GemvS16Tile g) noexcept {
    const std::int64_t begin = p.first + gate, end = begin + p.count, max = s16().panels[p.rows - 1] * kFixedLanes;
    // Columns at once, from the left or before `column` from the right: they are of one group.
    for (std::int64_t column = p.backwards ? end : begin, columns = 0; p.backwards ? column > begin : column < end;) {
      const std::int64_t group = (column - p.backwards) / Weights::kGroup, at = group * Weights::kGroup;
      columns = p.backwards ? std::min({max, column - begin, column - at}) : std::min({max, end - column, at + Weights::kGroup - column});
      if (p.backwards) column -= columns;
      const std::int64_t inside = column - at;
      g.pair_step = w.group_panels(group) * 32;
      set_weights(g, w, w.columns(packed, at), inside);
      g.step = w.step(packed) + column;
      float* const out = p.out + column - p.first;
      const GemmF32EpilogueArgs sum{.residual = out, .residual_stride = p.out_row};
      const GemmF32Tile tile{.c = out, .c_stride = p.out_row, .cols = columns, .epilogue = &sum};
      product_with(w, p.rows, columns / kFixedLanes)(g, tile);
      if (!p.backwards) column += columns;
    }
  }
  static void multiply_whole(const Weights& w, const void* packed, const RecurrentGemm& p, std::int64_t gate) noexcept {
    constexpr std::int64_t kColumns = Weights::kPanel;
    double sums[kMaxFixedRows][kColumns];
    const float* table[kMaxFixedRows];
    for (std::int64_t r = 0; r < p.rows; ++r) table[r] = p.x + r * p.x_row;
    for (std::int64_t done = 0; done < p.count; done += kColumns) {
      std::fill_n(sums[0], kMaxFixedRows * kColumns, 0.0);
      add_decoded(w, packed, p.first + gate + done, table, p.rows, sums[0]);
      for (std::int64_t r = 0; r < p.rows; ++r)
        for (std::int64_t c = 0; c < std::min(kColumns, p.count - done); ++c)
          p.out[r * p.out_row + gate + done + c] += static_cast<float>(sums[r][c]);
    }
  }
};

template <class Weights>
Status::Code run_fixed(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = static_cast<const FixedKernel<Weights>&>(*static_cast<const RecurrentKernel*>(self));
  RecurrentRun(kernel, args).all(kernel.unit_parts, kFixedLanes);
  return Status::ok;
}

}  // namespace tenfold::backends::cpu
