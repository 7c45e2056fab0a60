// Kernels of LSTM, GRU and RNN: products with packed panels, and the cells' arithmetic.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct RecurrentKernels {
  std::int64_t panel, units;  // columns of a panel; a cell's gates are padded to multiples of the second
  // out[rows x cols] = x[rows x depth] * panels (+ out if accumulate); panels: [cols / panel][depth][panel], cols padded
  // to vectors.
  void (*product)(const float* x, std::int64_t x_row, std::int64_t rows, std::int64_t depth, const float* panels, std::int64_t cols,
                  float* out, std::int64_t out_row, bool accumulate);
  // gates: i, o, f, c, each `gate` floats apart. Updates the cell and gives the state.
  void (*lstm_cell)(const float* gates, std::int64_t gate, float* cell, float* state, std::int64_t hidden);
  // state = tanh(gates), or with `relu` what of them is above 0; NaN stays NaN.
  void (*rnn_cell)(const float* gates, float* state, std::int64_t hidden, bool relu);
  // In place: z and r become sigmoids; then, unless the product comes first, reset = r * state.
  void (*gru_gates)(float* gates, std::int64_t gate, const float* state, float* reset, std::int64_t hidden);
  // state = (1 - z) tanh(candidate + from_state * (r or 1)) + z state; r null: 1.
  void (*gru_state)(const float* z, const float* r, const float* candidate, const float* from_state, float* state, std::int64_t hidden);
};

extern "C" {
extern const RecurrentKernels tenfold_recurrent_avx2, tenfold_recurrent_avx512;
}

}  // namespace tenfold::backends::cpu
