#include "backends/cpu/tactics/recurrent/recurrent_run_common.h"

#include <cstring>

namespace tenfold::backends::cpu {

using std::int64_t;

RecurrentRun::RecurrentRun(const RecurrentKernel& kernel, const RunArgs& args) noexcept
    : k_(kernel),
      e_(kernel.e),
      args_(args),
      x_(args.in[0]),
      steps_(x_.dims[kernel.batch_first ? 1 : 0]),
      batch_(x_.dims[kernel.batch_first ? 0 : 1]),
      x_step_(x_.strides[kernel.batch_first ? 1 : 0]),
      x_sample_(x_.strides[kernel.batch_first ? 0 : 1]),
      gates_(static_cast<float*>(args.workspace)),
      states_(gates_ + e_.directions * steps_ * batch_ * e_.row()),
      bias_(states_ + e_.directions * batch_ * 4 * e_.padded) {}

void RecurrentRun::all(int64_t unit_parts, int64_t panel) noexcept {
  make_bias();
  constexpr int64_t kRowsOfPart = 12;
  const int64_t row_parts = ceil_div(steps_ * batch_, kRowsOfPart);
  args_.parallel->for_each(e_.directions * row_parts, [&](int64_t part, int worker) {
    const int64_t first = part % row_parts * kRowsOfPart;
    project(part / row_parts, first, std::min(first + kRowsOfPart, steps_ * batch_), worker);
  });
  if (unit_parts > 1 && (!k_.gru() || k_.product_first)) {
    for (int64_t d = 0; d < e_.directions; ++d) walk_by_units(d, unit_parts, panel);
    return;
  }
  constexpr int64_t kSamplesOfPart = 3;  // samples do not depend on each other
  const int64_t sample_parts = ceil_div(batch_, kSamplesOfPart);
  args_.parallel->for_each(e_.directions * sample_parts, [&](int64_t part, int worker) {
    const int64_t first = part % sample_parts * kSamplesOfPart;
    const int64_t d = part / sample_parts, samples = std::min(kSamplesOfPart, batch_ - first);
    begin_states(d, first, samples);
    walk(d, 0, steps_, first, samples, worker);
    end_states(d, first, samples, 0);
  });
}

void RecurrentRun::begin() noexcept {
  make_bias();
  begin_states(0, 0, batch_);
}
void RecurrentRun::steps(int64_t first, int64_t last, int worker) noexcept {
  project(0, first * batch_, last * batch_, worker);
  walk(0, first, last, 0, batch_, worker);
}
void RecurrentRun::end() noexcept { end_states(0, 0, batch_, 0); }

float* RecurrentRun::gates(int64_t d, int64_t step, int64_t sample) const {
  return gates_ + ((d * steps_ + step) * batch_ + sample) * e_.row();
}
float* RecurrentRun::state(int64_t d, int64_t which, int64_t sample) const {
  return states_ + ((d * 4 + which) * batch_ + sample) * e_.padded;
}

// bias_: added to the input's product; behind it, only for a GRU whose product comes first, the candidate's bias of the state.
void RecurrentRun::make_bias() noexcept {
  std::memset(bias_, 0, static_cast<std::size_t>(2 * e_.directions * e_.row()) * 4);
  if (!k_.has_bias) return;
  const int64_t all = e_.gates * e_.hidden;
  for (int64_t d = 0; d < e_.directions; ++d)
    for (int64_t g = 0; g < e_.gates; ++g)
      for (int64_t u = 0; u < e_.hidden; ++u) {
        const float* b = args_.in[3].as<const float>() + d * 2 * all + g * e_.hidden + u;
        const bool apart = k_.gru() && k_.product_first && g == 2;
        bias_[(d * 2) * e_.row() + g * e_.padded + u] = b[0] + (apart ? 0.f : b[all]);
        if (apart) bias_[(d * 2 + 1) * e_.row() + g * e_.padded + u] = b[all];
      }
}
void RecurrentRun::project(int64_t d, int64_t first, int64_t last, int worker) noexcept {
  const bool in_rows = steps_ == 1 || batch_ == 1 || x_step_ == batch_ * x_sample_;
  for (int64_t r = first; r < last; ++r)
    std::memcpy(gates_ + (d * steps_ * batch_ + r) * e_.row(), bias_ + d * 2 * e_.row(), static_cast<std::size_t>(e_.row()) * 4);
  const auto x = [&](int64_t r) { return x_.as<const float>() + r / batch_ * x_step_ + r % batch_ * x_sample_; };
  float* out = gates_ + (d * steps_ * batch_ + first) * e_.row();
  if (in_rows) {
    const int64_t row = steps_ == 1 ? x_sample_ : batch_ == 1 ? x_step_ : x_sample_;
    k_.add(args_, {1, d, 0, e_.row(), x(first), row, last - first, out, e_.row()}, worker);
  } else {
    for (int64_t r = first; r < last; ++r, out += e_.row())
      k_.add(args_, {1, d, 0, e_.row(), x(r), 0, 1, out, e_.row()}, worker);
  }
}

// Elements of Y [steps, directions, batch, hidden] and of states [directions, batch, hidden], or with the batch in front.
float* RecurrentRun::output(int64_t d, int64_t step, int64_t sample) const {
  const Bound& y = args_.out[0];
  return y.as<float>() + (k_.batch_first ? sample * y.strides[0] + step * y.strides[1] + d * y.strides[2]
                                         : step * y.strides[0] + d * y.strides[1] + sample * y.strides[2]);
}
float* RecurrentRun::of_state(const Bound& b, int64_t d, int64_t sample) const {
  return b.as<float>() + (k_.batch_first ? sample * b.strides[0] + d * b.strides[1] : d * b.strides[0] + sample * b.strides[1]);
}

void RecurrentRun::begin_states(int64_t d, int64_t first, int64_t samples) noexcept {
  for (int64_t s = first; s < first + samples; ++s) {
    for (int64_t which = 0; which < 4; ++which) std::memset(state(d, which, s), 0, static_cast<std::size_t>(e_.padded) * 4);
    if (k_.has_state) std::memcpy(state(d, 0, s), of_state(args_.in[5], d, s), state_bytes());
    if (k_.lstm() && k_.has_cell) std::memcpy(state(d, 1, s), of_state(args_.in[6], d, s), state_bytes());
  }
}
// `which` has the state.
void RecurrentRun::end_states(int64_t d, int64_t first, int64_t samples, int64_t which) noexcept {
  for (int64_t s = first; s < first + samples; ++s) {
    if (k_.has_output[1]) std::memcpy(of_state(args_.out[1], d, s), state(d, which, s), state_bytes());
    if (k_.lstm() && k_.has_output[2]) std::memcpy(of_state(args_.out[2], d, s), state(d, 1, s), state_bytes());
  }
}

// Each part takes some units of all samples. The states of a step and of the next one lie apart: parts read all of the first.
void RecurrentRun::walk_by_units(int64_t d, int64_t parts, int64_t panel) noexcept {
  begin_states(d, 0, batch_);
  const int64_t units = round_up(ceil_div(e_.padded, parts), panel);
  int64_t from = 0, to = 3;
  for (int64_t i = 0; i < steps_; ++i, std::swap(from, to)) {
    args_.parallel->for_each(ceil_div(e_.padded, units), [&](int64_t part, int worker) {
      const int64_t first = part * units, count = std::min(units, e_.padded - first);
      unit_step(d, step_at(d, i), first, count, from, to, worker);
    });
  }
  end_states(d, 0, batch_, from);
}
void RecurrentRun::unit_step(int64_t d, int64_t step, int64_t first, int64_t count, int64_t from, int64_t to, int worker) noexcept {
  float *const g = gates(d, step, 0) + first, *const from_state = state(d, 2, 0) + first;
  const int64_t in_place = k_.gru() ? 2 : e_.gates;  // of a GRU, the candidate waits for its reset gate
  const bool backwards = !k_.gru() && step % 2 == 1;
  k_.add(args_, {2, d, first, count, state(d, from, 0), e_.padded, batch_, g, e_.row(), in_place, backwards}, worker);
  if (k_.gru()) {
    const float* bias = bias_ + (d * 2 + 1) * e_.row() + 2 * e_.padded + first;
    for (int64_t s = 0; s < batch_; ++s) std::memcpy(from_state + s * e_.padded, bias, static_cast<std::size_t>(count) * 4);
    k_.add(args_, {2, d, 2 * e_.padded + first, count, state(d, from, 0), e_.padded, batch_, from_state, e_.padded}, worker);
  }
  for (int64_t s = 0; s < batch_; ++s) {
    float *row = g + s * e_.row(), *made = state(d, to, s) + first;
    if (k_.lstm()) {
      k_.kernels->lstm_cell(row, e_.padded, state(d, 1, s) + first, made, count);
    } else if (!k_.gru()) {
      k_.kernels->rnn_cell(row, made, count, k_.relu);
    } else {
      std::memcpy(made, state(d, from, s) + first, static_cast<std::size_t>(count) * 4);
      k_.kernels->gru_gates(row, e_.padded, made, nullptr, count);
      k_.kernels->gru_state(row, row + e_.padded, row + 2 * e_.padded, from_state + s * e_.padded, made, count);
    }
    const int64_t exist = std::min(count, e_.hidden - first);
    if (k_.has_output[0] && exist > 0) std::memcpy(output(d, step, s) + first, made, static_cast<std::size_t>(exist) * 4);
  }
}

void RecurrentRun::walk(int64_t d, int64_t begin, int64_t end, int64_t first, int64_t samples, int worker) noexcept {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t step = step_at(d, i);
    if (k_.gru())
      gru_step(d, step, first, samples, worker);
    else
      step_in_place(d, step, first, samples, worker);
    if (k_.has_output[0])
      for (int64_t s = first; s < first + samples; ++s) std::memcpy(output(d, step, s), state(d, 0, s), state_bytes());
  }
}

// LSTM and RNN.
void RecurrentRun::step_in_place(int64_t d, int64_t step, int64_t first, int64_t samples, int worker) noexcept {
  float* g = gates(d, step, first);
  k_.add(args_, {2, d, 0, e_.row(), state(d, 0, first), e_.padded, samples, g, e_.row(), 1, step % 2 == 1}, worker);
  for (int64_t s = 0; s < samples; ++s) {
    float *const row = g + s * e_.row(), *const made = state(d, 0, first + s);
    if (k_.lstm())
      k_.kernels->lstm_cell(row, e_.padded, state(d, 1, first + s), made, e_.padded);
    else
      k_.kernels->rnn_cell(row, made, e_.padded, k_.relu);
  }
}
void RecurrentRun::gru_step(int64_t d, int64_t step, int64_t first, int64_t samples, int worker) noexcept {
  float* g = gates(d, step, first);
  float *reset = state(d, 1, first), *from_state = state(d, 2, first);
  k_.add(args_, {2, d, 0, 2 * e_.padded, state(d, 0, first), e_.padded, samples, g, e_.row()}, worker);
  for (int64_t s = 0; s < samples; ++s)
    k_.kernels->gru_gates(g + s * e_.row(), e_.padded, state(d, 0, first + s), k_.product_first ? nullptr : reset + s * e_.padded,
                          e_.padded);
  const float* from_bias = bias_ + (d * 2 + 1) * e_.row() + 2 * e_.padded;
  for (int64_t s = 0; s < samples; ++s) std::memcpy(from_state + s * e_.padded, from_bias, static_cast<std::size_t>(e_.padded) * 4);
  k_.add(args_,
      {2, d, 2 * e_.padded, e_.padded, k_.product_first ? state(d, 0, first) : reset, e_.padded, samples, from_state, e_.padded}, worker);
  for (int64_t s = 0; s < samples; ++s) {
    const float* row = g + s * e_.row();
    k_.kernels->gru_state(row, k_.product_first ? row + e_.padded : nullptr, row + 2 * e_.padded, from_state + s * e_.padded,
                          state(d, 0, first + s), e_.padded);
  }
}

}  // namespace tenfold::backends::cpu
