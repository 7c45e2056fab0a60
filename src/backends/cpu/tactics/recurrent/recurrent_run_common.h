// RecurrentRun: LSTM, GRU or RNN step by step, over a kernel's products.
#pragma once

#include "backends/cpu/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends::cpu {

class RecurrentRun {
 public:
  RecurrentRun(const RecurrentKernel& kernel, const RunArgs& args) noexcept;  // both stay
  // `unit_parts` above 1: the units of a step are shared by as many parts, each of a multiple of `panel` units, where no part of a step
  // needs another's. Else samples are shared.
  void all(std::int64_t unit_parts, std::int64_t panel) noexcept;

  // The same piece by piece, of one direction: begin(), then all steps in order, then end(). No two at once.
  void begin() noexcept;
  void steps(std::int64_t first, std::int64_t last, int worker) noexcept;
  void end() noexcept;

 private:
  float* gates(std::int64_t d, std::int64_t step, std::int64_t sample) const;
  float* state(std::int64_t d, std::int64_t which, std::int64_t sample) const;
  float* output(std::int64_t d, std::int64_t step, std::int64_t sample) const;
  float* of_state(const Bound& b, std::int64_t d, std::int64_t sample) const;
  std::size_t state_bytes() const { return static_cast<std::size_t>(e_.hidden) * 4; }
  std::int64_t step_at(std::int64_t d, std::int64_t i) const { return k_.reverse || d == 1 ? steps_ - 1 - i : i; }

  void make_bias() noexcept;
  void project(std::int64_t d, std::int64_t first, std::int64_t last, int worker) noexcept;
  void begin_states(std::int64_t d, std::int64_t first, std::int64_t samples) noexcept;
  void end_states(std::int64_t d, std::int64_t first, std::int64_t samples, std::int64_t which) noexcept;
  void walk_by_units(std::int64_t d, std::int64_t parts, std::int64_t panel) noexcept;
  void unit_step(std::int64_t d, std::int64_t step, std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to,
                 int worker) noexcept;
  void walk(std::int64_t d, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t samples, int worker) noexcept;
  void step_in_place(std::int64_t d, std::int64_t step, std::int64_t first, std::int64_t samples, int worker) noexcept;
  void gru_step(std::int64_t d, std::int64_t step, std::int64_t first, std::int64_t samples, int worker) noexcept;

  const RecurrentKernel& k_;
  const RecurrentExtents& e_;
  const RunArgs& args_;
  const Bound& x_;
  std::int64_t steps_, batch_, x_step_, x_sample_;
  float *gates_, *states_, *bias_;
};

}  // namespace tenfold::backends::cpu
