// Products and cells of the recurrent operators. A tile is four vectors wide, so that one row of input already keeps four sums busy.
#include "backends/cpu/kernels/recurrent/recurrent.h"

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

constexpr int kVectors = 4;
constexpr int64_t kPanel = 64, kUnits = 16;   // the same for all instruction sets, for plans move between machines
constexpr int64_t kTile = kVectors * kLanes;

template <int kRows>
void tile(const float* x, int64_t x_row, int64_t depth, const float* panel, float* out, int64_t out_row, bool accumulate) {
  vf sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = accumulate ? load(out + r * out_row + v * kLanes) : zero();
  for (int64_t i = 0; i < depth; ++i, panel += kPanel) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const vf value = set1(x[r * x_row + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = fma(value, load(panel + v * kLanes), sums[r][v]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(out + r * out_row + v * kLanes, sums[r][v]);
}

void product(const float* x, int64_t x_row, int64_t rows, int64_t depth, const float* panels, int64_t cols, float* out, int64_t out_row,
             bool accumulate) {
  for (int64_t c = 0; c < cols; c += kTile) {
    const float* const panel = panels + c / kPanel * kPanel * depth + c % kPanel;
    int64_t r = 0;
    for (; r + 3 <= rows; r += 3) tile<3>(x + r * x_row, x_row, depth, panel, out + r * out_row + c, out_row, accumulate);
    for (; r < rows; ++r) tile<1>(x + r * x_row, x_row, depth, panel, out + r * out_row + c, out_row, accumulate);
  }
}

// Rows of gates and states are padded to whole panels, so cells run over whole vectors.
void lstm_cell(const float* gates, int64_t gate, float* cell, float* state, int64_t hidden) {
  for (int64_t u = 0; u < hidden; u += kLanes) {
    const vf in = simd::sigmoid(load(gates + u)), out = simd::sigmoid(load(gates + gate + u)),
             forget = simd::sigmoid(load(gates + 2 * gate + u));
    const vf c = fma(forget, load(cell + u), mul(in, simd::tanh(load(gates + 3 * gate + u))));
    store(cell + u, c);
    store(state + u, mul(out, simd::tanh(c)));
  }
}
void rnn_cell(const float* gates, float* state, int64_t hidden, bool relu) {
  for (int64_t u = 0; u < hidden; u += kLanes) {
    const vf sum = load(gates + u);
    store(state + u, relu ? max(zero(), sum) : simd::tanh(sum));
  }
}
void gru_gates(float* gates, int64_t gate, const float* state, float* reset, int64_t hidden) {
  for (int64_t u = 0; u < hidden; u += kLanes) {
    store(gates + u, simd::sigmoid(load(gates + u)));
    const vf r = simd::sigmoid(load(gates + gate + u));
    store(gates + gate + u, r);
    if (reset) store(reset + u, mul(r, load(state + u)));
  }
}
void gru_state(const float* z, const float* r, const float* candidate, const float* from_state, float* state, int64_t hidden) {
  for (int64_t u = 0; u < hidden; u += kLanes) {
    const vf from = r ? mul(load(r + u), load(from_state + u)) : load(from_state + u);
    const vf c = simd::tanh(add(load(candidate + u), from)), keep = load(z + u);
    store(state + u, fma(keep, sub(load(state + u), c), c));
  }
}

}  // namespace

extern "C" constinit const RecurrentKernels TENFOLD_TABLE(recurrent) = {kPanel, kUnits, product, lstm_cell, rnn_cell, gru_gates, gru_state};

}  // namespace tenfold::backends::cpu
