// What the tactics of LSTM, GRU and RNN share: everything but the products with W and R.
#pragma once

#include "backends/cpu/kernels/recurrent/recurrent.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

struct RecurrentExtents {
  // A gate's columns are padded to multiples of `unit`, all of a row to whole panels.
  RecurrentExtents(const Problem& p, std::int64_t unit, std::int64_t panel);
  std::int64_t directions, gates, input, hidden, padded, panel;
  std::int64_t row() const { return (gates * padded + panel - 1) / panel * panel; }  // gates of one sample
  std::int64_t depth(int operand) const { return operand == 1 ? input : hidden; }   // of W, which is operand 1, or R
};

const RecurrentKernels& recurrent_kernels(const Problem& p);
Verdict supports_recurrent(const Problem& p);
double recurrent_work(const Problem& p);

// f(gate, unit, i, offset in W or R) for every element of one direction.
template <class F>
void for_recurrent_weights(const RecurrentExtents& e, int operand, std::int64_t direction, F&& f) {
  const std::int64_t depth = e.depth(operand);
  for (std::int64_t g = 0; g < e.gates; ++g)
    for (std::int64_t u = 0; u < e.hidden; ++u)
      for (std::int64_t i = 0; i < depth; ++i) f(g, u, i, ((direction * e.gates + g) * e.hidden + u) * depth + i);
}

enum class RecurrentCell { lstm, gru, rnn };

// out[rows x count] += x[rows x depth] * columns [first, first + count) of W or R, which is `operand`, for each of some gates.
struct RecurrentGemm {
  int operand;
  std::int64_t direction, first, count;
  const float* x;
  std::int64_t x_row, rows;
  float* out;
  std::int64_t out_row;
  std::int64_t gates = 1;  // the same columns of as many gates that follow each other, in the weights as in `out`
  // From the last column to the first. Steps take turns: what one has read last is in the cache, where weights as a whole are not.
  bool backwards = false;
};

// What a tactic of recurrent operators opens, as a pointer to this.
struct RecurrentKernel {
  RecurrentKernel(const Problem& p, const RecurrentExtents& extents);
  virtual ~RecurrentKernel() = default;
  virtual void add(const RunArgs& args, const RecurrentGemm& product, int worker) const noexcept = 0;
  const RecurrentKernels* kernels;
  RecurrentExtents e;
  RecurrentCell cell;
  bool relu;   // of an RNN, for tanh
  bool reverse, batch_first, has_bias, has_state, has_cell, product_first;
  bool has_output[3];
  bool lstm() const { return cell == RecurrentCell::lstm; }
  bool gru() const { return cell == RecurrentCell::gru; }
};

// Bytes. Per direction and sample: gates of all steps; then the state, the cell (or reset state) and the product from the state.
template <class Extent>
Extent recurrent_workspace(const RecurrentExtents& e, Extent steps, Extent batch) {
  return batch * Extent(e.directions * 4) * (steps * Extent(e.row()) + Extent(4 * e.padded)) + Extent(2 * e.directions * e.row() * 4);
}
ir::Dim recurrent_workspace(const Problem& p, const RecurrentExtents& e);

}  // namespace tenfold::backends::cpu
