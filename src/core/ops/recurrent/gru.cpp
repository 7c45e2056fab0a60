// GRU: gates z (update), r (reset) and the candidate h. linear_before_reset says whether r scales the state or its product.
#include "ops/recurrent/recurrent_common.h"

namespace tenfold::ir {
namespace {

const ops::RecurrentForm kForm{.gates = 3, .activations = {"Sigmoid", "Tanh"}};

void infer(InferCall& call) { ops::infer_recurrent(call, kForm); }

void reference(Call& call) {
  ops::Recurrence recurrence(call, kForm);
  const bool product_first = call.attributes().integer("linear_before_reset") != 0;
  const auto hidden = static_cast<std::size_t>(recurrence.hidden());
  std::vector<double> z(hidden), r(hidden), reset(hidden), next(hidden);
  recurrence.run([&](std::int64_t d, const double* x, std::vector<double>& state) {
    const ops::Activation &f = recurrence.activation(d, 0), &g = recurrence.activation(d, 1);
    for (std::size_t u = 0; u < hidden; ++u) {
      const auto unit = static_cast<std::int64_t>(u);
      z[u] = f(recurrence.input_product(d, 0, unit, x) + recurrence.state_product(d, 0, unit, state.data()));
      r[u] = f(recurrence.input_product(d, 1, unit, x) + recurrence.state_product(d, 1, unit, state.data()));
      reset[u] = r[u] * state[u];
    }
    for (std::size_t u = 0; u < hidden; ++u) {
      const auto unit = static_cast<std::int64_t>(u);
      const double from_state =
          product_first ? r[u] * recurrence.state_product(d, 2, unit, state.data()) : recurrence.state_product(d, 2, unit, reset.data());
      const double candidate = g(recurrence.input_product(d, 2, unit, x) + from_state);
      next[u] = (1 - z[u]) * candidate + z[u] * state[u];
    }
    state = next;
  });
}

}  // namespace

OpDef op_gru() {
  return {.name = "GRU",
          .min_inputs = 3,
          .max_inputs = 6,
          .max_outputs = 2,
          .types = "T, T, T, T, int, T -> T, T; T: float",
          .attributes = {{"direction", "forward"}, {"layout", 0}, {"linear_before_reset", 0}},
          .optional_attributes = "activations: strings, activation_alpha: floats, activation_beta: floats, clip: float, hidden_size: int",
          .infer = infer,
          .reference = reference,
          .traits = {.permission = {.rounding = true}},
          .cases = {"f32[4,2,3] f32[1,15,3] f32[1,15,5] f32[1,30] outputs=2",
                    "f32[4,2,3] f32[2,15,3]! f32[2,15,5]! f32[2,30]! i32[2]{4,2} f32[2,2,5] direction=\"bidirectional\" outputs=2 "
                    "linear_before_reset=1",
                    "f32[2,4,3] f32[1,15,3] f32[1,15,5] layout=1 direction=\"reverse\" clip=0.5"}};
}

}  // namespace tenfold::ir
