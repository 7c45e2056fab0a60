// State that a context keeps from run to run: an output that is an input of the next run.
#include "native/arrays/arrays.h"
#include "native/call/bound_context.h"
#include "native/errors.h"

namespace tenfold::python {

BoundContext::State* BoundContext::state_of(int binding) {
  for (State& state : states_)
    if (state.output == binding || state.input == binding) return &state;
  return nullptr;
}

BoundContext::State& BoundContext::need_state(int input) {
  State* state = state_of(input);
  if (state == nullptr || state->input != input)
    raise_error(ErrorKind::invalid_argument, slots_->at(input).what() + " has no state: bind_state(output, input) gives it one");
  return *state;
}

void BoundContext::end_state(int binding) {
  std::erase_if(states_, [&](const State& state) {
    if (state.output != binding && state.input != binding) return false;
    bound_[static_cast<std::size_t>(state.output)] = bound_[static_cast<std::size_t>(state.input)] = false;
    return true;
  });
}

void BoundContext::bind_state(int output, int input, bool in_place) {
  if (const Status status = tenfold::bind_state(*context_, output, input, in_place); !status) refuse(status);
  keep(output, {}), keep(input, {});
  states_.push_back({.output = output, .input = input, .next = {}});
}

// The shape is that of the run that was, whatever is set for the next one.
void BoundContext::advance_states() {
  for (State& state : states_) {
    std::array<std::int64_t, kMaxDims> shape;
    int rank = 0;
    if (const Status status = context_->shape(state.output, shape, rank); !status) refuse(status);
    state.next.assign(shape.begin(), shape.begin() + rank), state.advanced = true;
  }
}

nb::object BoundContext::read_state(int input) {
  const State& state = need_state(input);
  std::vector<std::int64_t> shape = state.next;
  if (!state.advanced) {
    std::array<std::int64_t, kMaxDims> set;
    int rank = 0;
    if (const Status status = context_->shape(input, set, rank); !status) refuse(status);
    shape.assign(set.begin(), set.begin() + rank);
  }
  const DType dtype = slots_->at(input).dtype;
  void* data = nullptr;
  nb::object made = new_array(Maker::numpy, {}, dtype, shape, data);
  const std::int64_t bytes = byte_size(dtype, element_count(shape));
  Status status;
  {
    const Unlocked unlocked;
    status = tenfold::read_state(*context_, input, data, bytes);
  }
  if (!status) refuse(status);
  return made;
}

void BoundContext::write_state(int input, nb::handle array) {
  need_state(input);
  ArrayView view;
  read(input, array, view, kNoStream, false);
  if (view.on_gpu()) raise_error(ErrorKind::invalid_argument, slots_->at(input).what() + ": a state is written from the host's memory");
  const nb::object dense = view.dense ? view.owner : packed_copy(array, view.maker);
  if (!view.dense) read_array(view, dense, slots_->at(input).what());
  set_shape(input, view.extents());
  std::byte nothing{};
  Status status;
  {
    const Unlocked unlocked;
    status = tenfold::write_state(*context_, input, view.elements == 0 ? &nothing : view.data, view.reach());
  }
  if (!status) refuse(status);
}

void BoundContext::clear_state(int input) {
  need_state(input);
  Status status;
  {
    const Unlocked unlocked;
    status = tenfold::clear_state(*context_, input);
  }
  if (!status) refuse(status);
}

}  // namespace tenfold::python
