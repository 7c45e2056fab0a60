// RNN: h = f(W x + R h + bias), step by step.
#include "ops/recurrent/recurrent_common.h"

namespace tenfold::ir {
namespace {

const ops::RecurrentForm kForm{.gates = 1, .activations = {"Tanh"}};

void infer(InferCall& call) { ops::infer_recurrent(call, kForm); }

void reference(Call& call) {
  ops::Recurrence recurrence(call, kForm);
  std::vector<double> next(static_cast<std::size_t>(recurrence.hidden()));
  recurrence.run([&](std::int64_t d, const double* x, std::vector<double>& state) {
    const ops::Activation& f = recurrence.activation(d, 0);
    for (std::int64_t u = 0; u < recurrence.hidden(); ++u) {
      next[static_cast<std::size_t>(u)] = f(recurrence.input_product(d, 0, u, x) + recurrence.state_product(d, 0, u, state.data()));
    }
    state = next;
  });
}

}  // namespace

OpDef op_rnn() {
  return {.name = "RNN",
          .min_inputs = 3,
          .max_inputs = 6,
          .max_outputs = 2,
          .types = "T, T, T, T, int, T -> T, T; T: float",
          .attributes = {{"direction", "forward"}, {"layout", 0}},
          .optional_attributes = "activations: strings, activation_alpha: floats, activation_beta: floats, clip: float, hidden_size: int",
          .infer = infer,
          .reference = reference,
          .traits = {.permission = {.rounding = true}},
          .cases = {"f32[4,2,3] f32[1,5,3] f32[1,5,5] outputs=2",
                    "f32[4,2,3] f32[2,5,3]! f32[2,5,5]! f32[2,10]! i32[2]{4,2} f32[2,2,5] direction=\"bidirectional\" outputs=2",
                    "f32[2,4,3] f32[1,5,3] f32[1,5,5] layout=1 direction=\"reverse\" activations=[\"Relu\"] clip=0.5"}};
}

}  // namespace tenfold::ir
