#include "native/call/call.h"

#include "native/call/runtime_values.h"
#include "native/errors.h"

namespace tenfold::python {
namespace {

[[noreturn]] void refuse_missing(const Slots& slots, int input) {
  raise_error(ErrorKind::invalid_argument, slots.at(input).what() + " is missing, and it has no default");
}

void check_out(BoundContext& runner, int binding, const ArrayView& view) {
  std::array<std::int64_t, kMaxDims> shape;
  int rank = 0;
  const std::string& what = runner.slots().at(binding).what();
  if (!runner.output_shape(binding, shape, rank) || runner.sized_by_run(binding))
    raise_error(ErrorKind::invalid_argument, what + " has a size that only the run knows: leave out= away for it");
  const std::span extents(shape.data(), static_cast<std::size_t>(rank));
  if (!std::equal(extents.begin(), extents.end(), view.extents().begin(), view.extents().end()))
    raise_error(ErrorKind::invalid_argument,
                what + " has the shape [" + text(extents) + "] for these inputs, an array of [" + text(view.extents()) + "] is given");
}

nb::object as_the_inputs(nb::object made, Maker maker, nb::handle like) {
  switch (maker) {
    case Maker::torch: return module_of("torch").attr("from_numpy")(made).attr("to")(like.attr("device"));
    case Maker::cupy: return module_of("cupy").attr("asarray")(made);
    case Maker::own: return device_array_of(made, like);
    case Maker::numpy: break;
  }
  return made;
}

void bind_inputs(Call& call, BoundContext& runner, bool later) {
  ArrayView view;
  Few<int> copied(call.slots.inputs);
  int copies = 0;
  for (int i = 0; i < call.slots.inputs; ++i) {
    const nb::object& given = call.inputs[i];
    if (!given.is_valid()) {
      if (!call.slots.at(i).has_default) refuse_missing(call.slots, i);
      runner.bind_nothing(i);
      continue;
    }
    runner.bind(i, given, view, call.on.for_dlpack(), !later);
    if (later && call.slots.on_gpu && !view.on_gpu()) copied[copies++] = i;
    call.on_host = call.on_host || !view.on_gpu();
    if (view.maker != Maker::numpy && !call.like.is_valid())
      call.maker = view.maker, call.like = given, call.like_on_host = !view.on_gpu();
  }
  for (int c = 0; c < copies; ++c) runner.bind_copy(copied[c], call.inputs[copied[c]]);   // now all shapes are set
}

}  // namespace

void bind_call(Call& call, BoundContext& runner, bool later) {
  if (call.slots.values)
    raise_error(ErrorKind::unsupported, "an engine that takes or gives strings, sequences, optionals or maps runs by engine(...) alone");
  bind_inputs(call, runner, later);
  const bool copied_later = later && call.slots.on_gpu && (call.maker == Maker::numpy || call.like_on_host);
  ArrayView view;
  for (int o = 0; o < call.slots.outputs(); ++o) {
    nb::object& output = call.outputs[o];
    const int binding = call.slots.inputs + o;
    if (output.is_valid()) {
      runner.bind(binding, output, view, call.on.for_dlpack(), !later);
      check_out(runner, binding, view);
      call.on_host = call.on_host || !view.on_gpu();
    } else if ((!call.all && !call.requested[o]) || copied_later) {
      runner.bind_nothing(binding);
    } else {
      output = runner.bind_new(binding, call.maker, call.like);
      call.on_host = call.on_host || call.maker == Maker::numpy || !output.is_valid();
    }
  }
}

nb::object result_of(Call& call, BoundContext& runner) {
  const Slots& slots = call.slots;
  for (int o = 0; o < slots.outputs(); ++o)
    if (!call.outputs[o].is_valid() && (call.all || call.requested[o]))
      call.outputs[o] = as_the_inputs(runner.copied(slots.inputs + o), call.maker, call.like);
  return named_results(call);
}

nb::object named_results(Call& call) {
  const Slots& slots = call.slots;
  if (call.as_list) {
    nb::list results;
    for (int o : call.order) results.append(call.outputs[o]);
    return results;
  }
  if (slots.outputs() == 1) return std::move(call.outputs[0]);
  nb::dict named;
  for (int o = 0; o < slots.outputs(); ++o) named[slots.at(slots.inputs + o).name.c_str()] = call.outputs[o];
  return named;
}

Borrowed::~Borrowed() {
  if (!runner_) return;
  if (!runner_->pending()) runner_->forget();
  state_.give(std::move(runner_));
}

nb::object run_call(SharedEngine& state, Call& call) {
  if (call.slots.values) return run_on_values(state, call);
  if (is_captured(call.on)) return capture_call(state, call);
  if (call.on.given) end_freed_captures();
  Borrowed runner(state, call.on);
  runner->synchronize(call.on);
  bind_call(call, *runner, false);
  if (!call.on.given)
    runner->run();
  else if (runner->enqueue(call.on); call.on_host)
    runner->wait();
  return result_of(call, *runner);
}

}  // namespace tenfold::python
