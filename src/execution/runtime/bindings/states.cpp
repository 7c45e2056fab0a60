// State that stays in a context's memory from run to run.
#include <algorithm>
#include <utility>

#include "backends/backend.h"
#include "runtime/bindings/extras.h"

namespace tenfold::runtime {

bool holds_state(const ContextState& c, std::size_t b) noexcept {
  const auto holds = [&](const StateLink& s) { return s.in == b || s.out == b; };
  return c.extras && std::any_of(c.extras->states.begin(), c.extras->states.end(), holds);
}

void take_next_shapes(ContextState& c) noexcept {
  for (StateLink& link : c.extras->states) {
    if (!std::exchange(link.pending, false)) continue;
    Shape& shape = c.shapes.inputs[link.in];
    if (shape == link.next) continue;
    std::copy(link.next.begin(), link.next.end(), shape.begin());
    c.shapes.changed = true;
  }
}

void forget_next_shape(ContextState& c, std::size_t b) noexcept {
  for (StateLink& link : c.extras->states)
    if (link.in == b) link.pending = false;
}

// Two places swap; the input takes the shape that the output has now when the next run begins: until then shapes are this run's.
Status advance_states(ContextState& c) noexcept {
  const plan::Program& program = c.program();
  for (StateLink& link : c.extras->states) {
    const plan::Operand& out = program.outputs[link.out - program.inputs.size()];
    for (std::size_t d = 0; d < link.next.size(); ++d) link.next[d] = c.shapes.dims[static_cast<std::size_t>(out.dims[d])];
    link.pending = true;
    if (!link.places[1].memory) continue;
    std::swap(link.places[0], link.places[1]);
    c.bindings.memory[link.in] = link.places[0].memory.get();
    c.bindings.memory[link.out] = link.places[1].memory.get();
    c.bindings.states_moved = true;
  }
  return {};
}

namespace {

StateLink* link_of(ContextState& c, int input) noexcept {
  if (c.extras)
    for (StateLink& link : c.extras->states)
      if (static_cast<int>(link.in) == input) return &link;
  return nullptr;
}

DynamicBuffer zeros(ContextState& c, std::int64_t bytes) {
  DynamicBuffer place{c.engine->backend->memory().allocate(bytes), bytes};
  require(c.stream->fill(place.memory.get(), 0, bytes) == Status::ok && c.stream->wait() == Status::ok, ErrorKind::device,
          "clearing the state failed");
  return place;
}

// Both types, ranks and extents that do not depend on shapes.
bool alike(const BindingInfo& in, const BindingInfo& out) {
  if (in.dtype != out.dtype || in.shape.size() != out.shape.size()) return false;
  for (std::size_t d = 0; d < in.shape.size(); ++d)
    if (in.shape[d] >= 0 && out.shape[d] >= 0 && in.shape[d] != out.shape[d]) return false;
  return true;
}

// As Status of a binding, with words for describe().
Status refuse(ContextState& c, int binding, std::string why) noexcept {
  c.run.last_error = std::move(why);
  return {Status::invalid_binding, binding};
}

Status link(ContextState& c, int output, int input, bool in_place_too) {
  const auto in = static_cast<std::size_t>(input), out = static_cast<std::size_t>(output);
  const EngineState& engine = *c.engine;
  if (!alike(engine.bindings[in], engine.bindings[out]))
    return refuse(c, output, "it has another type or rank than input '" + engine.bindings[in].name + "', which it is to continue");
  bool in_place = in_place_too;
  for (const OpenTop& top : engine.programs) {
    if (top.outputs_grow[out - static_cast<std::size_t>(engine.inputs)]) return refuse(c, output, "state needs a bound on its size");
    in_place = in_place && may_take_place(engine, top, in, out, true);
  }
  const std::int64_t bytes = std::max(largest_bytes(engine, in), largest_bytes(engine, out));
  StateLink made{.in = in, .out = out, .places = {zeros(c, bytes), in_place ? DynamicBuffer{} : zeros(c, bytes)},
                 .next = Shape(engine.bindings[in].shape.size())};
  forget_extras(c, in), forget_extras(c, out);
  extras_of(c).states.push_back(made);
  c.bindings.memory[in] = made.places[0].memory.get();
  c.bindings.memory[out] = made.places[in_place ? 0 : 1].memory.get();
  c.bindings.bytes[in] = c.bindings.bytes[out] = bytes;
  c.bindings.changed = true;
  return {};
}

// Bytes of the state at its shape; -1: that is not set.
std::int64_t bytes_now(const ContextState& c, const StateLink& link) noexcept {
  if (!c.shapes.set[link.in]) return -1;
  std::int64_t bits_of_all = bits(c.engine->bindings[link.in].dtype);
  for (std::int64_t extent : link.pending ? link.next : c.shapes.inputs[link.in])
    if (__builtin_mul_overflow(bits_of_all, extent, &bits_of_all)) return -1;
  return (bits_of_all + 7) / 8;
}

Status transfer(ContextState& c, int input, void* host, std::int64_t bytes, bool out) noexcept {
  const StateLink* link = link_of(c, input);
  if (!link || !host) return {Status::invalid_binding, input};
  const std::int64_t requested = bytes_now(c, *link);
  if (requested < 0) return {Status::not_ready, input};
  if (requested != bytes || requested > link->places[0].bytes) return {Status::invalid_binding, input};
  void* place = link->places[0].memory.get();
  if (Status s{c.stream->wait(), -1}; !s) return s;
  const Status::Code code = out ? c.stream->copy(host, place, bytes) : c.stream->copy(place, host, bytes);
  return {code == Status::ok ? c.stream->wait() : code, -1};
}

}  // namespace
}  // namespace tenfold::runtime

namespace tenfold {

Status bind_state(ExecutionContext& context, int output, int input, bool in_place_too) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  if (input < 0 || input >= c.engine->inputs) return {Status::invalid_binding, input};
  if (output < c.engine->inputs || output >= static_cast<int>(c.bindings.memory.size())) return {Status::invalid_binding, output};
  for (const int end : {input, output})
    if (runtime::is_object(*c.engine, static_cast<std::size_t>(end))) return {Status::invalid_binding, end};
  try {
    return runtime::link(c, output, input, in_place_too);
  } catch (const Error& e) {
    return {e.kind() == ErrorKind::device ? Status::device : runtime::out_of_memory(c).code, -1};
  } catch (...) {
    return runtime::out_of_memory(c);
  }
}

Status read_state(ExecutionContext& context, int input, void* host, std::int64_t bytes) noexcept {
  return runtime::transfer(runtime::ContextAccess::of(context), input, host, bytes, true);
}
Status write_state(ExecutionContext& context, int input, const void* host, std::int64_t bytes) noexcept {
  return runtime::transfer(runtime::ContextAccess::of(context), input, const_cast<void*>(host), bytes, false);
}
Status clear_state(ExecutionContext& context, int input) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  const runtime::StateLink* link = runtime::link_of(c, input);
  if (!link) return {Status::invalid_binding, input};
  const Status::Code code = c.stream->fill(link->places[0].memory.get(), 0, link->places[0].bytes);
  return {code == Status::ok ? c.stream->wait() : code, -1};
}

}  // namespace tenfold
