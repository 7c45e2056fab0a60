// What LSTM, GRU and RNN share: shapes, directions, sequence lengths, activations, and the walk over the time steps.
#pragma once

#include <functional>

#include "ir/op_def.h"
#include "ops/real_access.h"

namespace tenfold::ops {

struct RecurrentForm {
  std::int64_t gates;                    // rows of W and R for each hidden unit
  std::vector<std::string> activations;  // defaults of one direction
  bool cell = false;                     // LSTM: a second state, and peepholes
};

void infer_recurrent(ir::InferCall& call, const RecurrentForm& form);

struct Activation {
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0, clip = 0;  // clip 0: none
  double operator()(double x) const;
};

// The operands of one execution, in double, and one step's products.
class Recurrence {
 public:
  Recurrence(ir::Call& call, const RecurrentForm& form);
  std::int64_t hidden() const { return hidden_; }
  const Activation& activation(std::int64_t direction, std::size_t i) const {
    return activations_[static_cast<std::size_t>(direction) * per_direction_ + i];
  }
  // Row `unit` of a gate times the input, or times a state; and the gate's biases for them.
  double input_product(std::int64_t direction, std::int64_t gate, std::int64_t unit, const double* x) const;
  double state_product(std::int64_t direction, std::int64_t gate, std::int64_t unit, const double* h) const;
  double peephole(std::int64_t direction, std::int64_t i, std::int64_t unit) const;

  // One time step: replaces the state (h, then the cell's c) of one sample.
  using Step = std::function<void(std::int64_t direction, const double* x, std::vector<double>& state)>;
  void run(const Step& step);

 private:
  void check_sizes() const;
  void load_states(int operand, std::size_t offset);
  std::vector<double>& state(std::int64_t direction, std::int64_t sample) {
    return states_[static_cast<std::size_t>(direction * batch_ + sample)];
  }

  ir::Call& call_;
  RecurrentForm form_;
  bool batch_first_;
  std::int64_t steps_, batch_, input_, hidden_, directions_;
  std::size_t per_direction_;
  std::vector<double> x_, w_, r_, b_, p_;
  std::vector<std::vector<double>> states_;
  std::vector<std::int64_t> lengths_;
  std::vector<Activation> activations_;
};

}  // namespace tenfold::ops
