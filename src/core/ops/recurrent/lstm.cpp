// LSTM: gates i (input), o (output), f (forget) and the candidate c, with peepholes from the cell to the gates.
#include "ops/recurrent/recurrent_common.h"

namespace tenfold::ir {
namespace {

const ops::RecurrentForm kForm{.gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}, .cell = true};
enum Gate : std::int64_t { input, output, forget, candidate };  // the order of rows in W and R; P has the first three

void infer(InferCall& call) { ops::infer_recurrent(call, kForm); }

void reference(Call& call) {
  ops::Recurrence recurrence(call, kForm);
  const bool coupled = call.attributes().integer("input_forget") != 0;
  const std::int64_t hidden = recurrence.hidden();
  std::vector<double> next(static_cast<std::size_t>(2 * hidden));
  recurrence.run([&](std::int64_t d, const double* x, std::vector<double>& state) {
    const ops::Activation &f = recurrence.activation(d, 0), &g = recurrence.activation(d, 1), &h = recurrence.activation(d, 2);
    for (std::int64_t u = 0; u < hidden; ++u) {
      const auto gate = [&](Gate which) {
        return recurrence.input_product(d, which, u, x) + recurrence.state_product(d, which, u, state.data());
      };
      const double cell = state[static_cast<std::size_t>(hidden + u)];
      const double in = f(gate(input) + recurrence.peephole(d, input, u) * cell);
      const double kept = coupled ? 1 - in : f(gate(forget) + recurrence.peephole(d, forget, u) * cell);
      const double new_cell = kept * cell + in * g(gate(candidate));
      const double out = f(gate(output) + recurrence.peephole(d, output, u) * new_cell);
      next[static_cast<std::size_t>(u)] = out * h(new_cell);
      next[static_cast<std::size_t>(hidden + u)] = new_cell;
    }
    state = next;
  });
}

}  // namespace

OpDef op_lstm() {
  return {
      .name = "LSTM",
      .min_inputs = 3,
      .max_inputs = 8,
      .max_outputs = 3,
      .types = "T, T, T, T, int, T, T, T -> T, T, T; T: float",
      .attributes = {{"direction", "forward"}, {"layout", 0}, {"input_forget", 0}},
      .optional_attributes = "activations: strings, activation_alpha: floats, activation_beta: floats, clip: float, hidden_size: int",
      .infer = infer,
      .reference = reference,
      .traits = {.permission = {.rounding = true}},
      .cases = {"f32[4,2,3] f32[1,20,3] f32[1,20,5] f32[1,40] outputs=3",
                "f32[4,2,3] f32[2,20,3]! f32[2,20,5]! f32[2,40]! i32[2]{4,2} f32[2,2,5] f32[2,2,5] direction=\"bidirectional\" outputs=3",
                "f32[2,4,3] f32[1,20,3] f32[1,20,5] layout=1 direction=\"reverse\" clip=0.5",
                "f32[3,1,4] f32[1,24,4] f32[1,24,6] f32[1,48] _ _ _ f32[1,18] outputs=3"}};
}

}  // namespace tenfold::ir
