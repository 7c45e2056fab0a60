// Shapes and the time loop of the recurrent operators.
#include "ops/recurrent/recurrent_common.h"

#include "ops/recurrent/activation_common.h"

namespace tenfold::ops {
namespace {

using ir::Dim;
using ir::Dims;

std::int64_t directions_of(const ir::Attributes& attributes) {
  const std::string& direction = attributes.string("direction");
  ir::validate(direction == "forward" || direction == "reverse" || direction == "bidirectional", "direction is \"", direction, "\"");
  return direction == "bidirectional" ? 2 : 1;
}

void need_dims(const ir::InferCall& call, int i, const Dims& expected, const char* what) {
  const Dims& found = call.dims(i);
  bool fits = found.size() == expected.size();
  for (std::size_t d = 0; fits && d < found.size(); ++d) {
    fits = found[d] == expected[d] || !found[d].is_constant() || !expected[d].is_constant();
  }
  call.check_shape(fits, what, " is [", ir::text(found), "], expected [", ir::text(expected), "]");
}

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void infer_recurrent(ir::InferCall& call, const RecurrentForm& form) {
  call.check_shape(call.rank(0) == 3 && call.rank(1) == 3 && call.rank(2) == 3, "X, W and R have the ranks ", call.rank(0), ", ",
                   call.rank(1), " and ", call.rank(2), ", expected 3");
  const bool batch_first = call.attributes().integer("layout") != 0;
  const Dim steps = call.dims(0)[batch_first ? 1 : 0], batch = call.dims(0)[batch_first ? 0 : 1], hidden = call.dims(2)[2];
  const Dim directions = directions_of(call.attributes());
  activations_of(call.attributes(), form, directions_of(call.attributes()));   // throws where there are too few, or unknown ones
  const std::int64_t hidden_size = call.attributes().integer("hidden_size", 0);
  call.check_shape(hidden_size == 0 || !hidden.is_constant() || hidden == Dim(hidden_size),
                   "hidden_size is ", hidden_size, ", R says ", hidden.text());
  const Dim rows = hidden * form.gates;
  need_dims(call, 1, {directions, rows, call.dims(0)[2]}, "W");
  need_dims(call, 2, {directions, rows, hidden}, "R");
  const Dims state = batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  if (call.has(3)) need_dims(call, 3, {directions, rows * 2}, "B");
  if (call.has(4)) need_dims(call, 4, {batch}, "sequence_lens");
  if (call.has(5)) need_dims(call, 5, state, "initial_h");
  if (form.cell && call.has(6)) need_dims(call, 6, state, "initial_c");
  if (form.cell && call.has(7)) need_dims(call, 7, {directions, hidden * 3}, "P");
  call.out(0, call.dtype(0), batch_first ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden});
  call.out(1, call.dtype(0), state);
  call.out(2, call.dtype(0), state);
}

Recurrence::Recurrence(ir::Call& call, const RecurrentForm& form)
    : call_(call),
      form_(form),
      batch_first_(call.attributes().integer("layout") != 0),
      directions_(directions_of(call.attributes())),
      per_direction_(form.activations.size()),
      x_(converted<double>(call.in[0])),
      w_(converted<double>(call.in[1])),
      r_(converted<double>(call.in[2])) {
  steps_ = call.in[0].shape[batch_first_ ? 1 : 0];
  batch_ = call.in[0].shape[batch_first_ ? 0 : 1];
  input_ = call.in[0].shape[2];
  hidden_ = call.in[2].shape[2];
  check_sizes();
  if (call.has(3)) b_ = converted<double>(call.in[3]);
  if (form.cell && call.has(7)) p_ = converted<double>(call.in[7]);
  lengths_.assign(static_cast<std::size_t>(batch_), steps_);
  for (std::size_t i = 0; call.has(4) && i < lengths_.size(); ++i) {
    lengths_[i] = load_int(call.in[4].dtype, call.in[4].data, static_cast<std::int64_t>(i));
    call.check_shape(lengths_[i] >= 0 && lengths_[i] <= steps_, "a sequence length is ", lengths_[i], ", expected 0 to ", steps_);
  }
  states_.assign(static_cast<std::size_t>(directions_ * batch_),
                 std::vector<double>(static_cast<std::size_t>(form.cell ? 2 * hidden_ : hidden_)));
  load_states(5, 0);
  if (form.cell) load_states(6, static_cast<std::size_t>(hidden_));
  activations_ = activations_of(call.attributes(), form, directions_);
}

// What `infer` could not know of symbolic dims.
void Recurrence::check_sizes() const {
  const std::int64_t rows = form_.gates * hidden_, states = directions_ * batch_ * hidden_;
  const auto expect = [&](int operand, const char* what, std::int64_t requested) {
    if (!call_.has(operand)) return;
    const ir::TensorRef& found = call_.in[static_cast<std::size_t>(operand)];
    call_.check_shape(found.size() == requested, what, " is [", ir::text(ir::to_dims(found.shape)), "], ", requested, " elements expected");
  };
  expect(1, "W", directions_ * rows * input_);
  expect(2, "R", directions_ * rows * hidden_);
  expect(3, "B", directions_ * rows * 2);
  expect(4, "sequence_lens", batch_);
  expect(5, "initial_h", states);
  if (!form_.cell) return;
  expect(6, "initial_c", states);
  expect(7, "P", directions_ * hidden_ * 3);
}

void Recurrence::load_states(int operand, std::size_t offset) {
  if (!call_.has(operand)) return;
  const std::vector<double> values = converted<double>(call_.in[static_cast<std::size_t>(operand)]);
  for (std::int64_t d = 0; d < directions_; ++d) {
    for (std::int64_t n = 0; n < batch_; ++n) {
      const auto from = values.begin() + (batch_first_ ? n * directions_ + d : d * batch_ + n) * hidden_;
      std::copy(from, from + hidden_, state(d, n).begin() + static_cast<std::ptrdiff_t>(offset));
    }
  }
}

double Recurrence::input_product(std::int64_t direction, std::int64_t gate, std::int64_t unit, const double* x) const {
  const std::int64_t row = direction * form_.gates * hidden_ + gate * hidden_ + unit;
  const double bias = b_.empty() ? 0.0 : b_[static_cast<std::size_t>(row + direction * form_.gates * hidden_)];
  return dot(w_.data() + row * input_, x, input_) + bias;
}

double Recurrence::state_product(std::int64_t direction, std::int64_t gate, std::int64_t unit, const double* h) const {
  const std::int64_t row = direction * form_.gates * hidden_ + gate * hidden_ + unit;
  const double bias = b_.empty() ? 0.0 : b_[static_cast<std::size_t>(row + (direction + 1) * form_.gates * hidden_)];
  return dot(r_.data() + row * hidden_, h, hidden_) + bias;
}

double Recurrence::peephole(std::int64_t direction, std::int64_t i, std::int64_t unit) const {
  return p_.empty() ? 0.0 : p_[static_cast<std::size_t>((direction * 3 + i) * hidden_ + unit)];
}

void Recurrence::run(const Step& step) {
  const auto store = [&](std::size_t output, std::int64_t at, const double* values) {
    if (output >= call_.out.size()) return;
    const ir::TensorRef& tensor = call_.out[output];
    for (std::int64_t i = 0; i < hidden_; ++i) store_double(tensor.dtype, tensor.data, at * hidden_ + i, values[i]);
  };
  const std::vector<double> zeros(static_cast<std::size_t>(hidden_));
  for (std::int64_t d = 0; d < directions_; ++d) {
    const bool backwards = d == 1 || call_.attributes().string("direction") == "reverse";
    for (std::int64_t n = 0; n < batch_; ++n) {
      const std::int64_t length = lengths_[static_cast<std::size_t>(n)];
      std::vector<double>& current = state(d, n);
      for (std::int64_t s = 0; s < steps_; ++s) {
        const std::int64_t t = s < length && backwards ? length - 1 - s : s;
        if (s < length) step(d, x_.data() + (batch_first_ ? n * steps_ + t : t * batch_ + n) * input_, current);
        store(0, batch_first_ ? (n * steps_ + t) * directions_ + d : (t * directions_ + d) * batch_ + n,
              s < length ? current.data() : zeros.data());
      }
      const std::int64_t at = batch_first_ ? n * directions_ + d : d * batch_ + n;
      store(1, at, current.data());
      if (form_.cell) store(2, at, current.data() + hidden_);
    }
  }
}

}  // namespace tenfold::ops
