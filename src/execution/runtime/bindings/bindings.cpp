// Bindings beyond plain memory: strides, allocators, and the moments of a run at which they act.
#include "tenfold/bindings.h"

#include <cstring>

#include "backends/backend.h"
#include "base/check.h"
#include "runtime/bindings/extras.h"

namespace tenfold::runtime {

bool output_grows(const ContextState& c, std::size_t binding) noexcept {
  const OpenTop& top = c.top();
  const std::size_t inputs = top.body.program->inputs.size();
  return binding >= inputs && top.outputs_grow[binding - inputs];
}

std::int64_t bytes_of_binding(const ContextState& c, std::size_t b) noexcept {
  const plan::Program& program = c.program();
  const auto inputs = static_cast<std::size_t>(c.engine->inputs);
  const plan::Operand& formal = b < inputs ? program.inputs[b] : program.outputs[b - inputs];
  std::int64_t bits_of_all = bits(formal.dtype);
  for (plan::DimIndex d : formal.dims)
    if (__builtin_mul_overflow(bits_of_all, c.shapes.dims[static_cast<std::size_t>(d)], &bits_of_all)) return -1;
  return bits_of_all / 8 + (bits_of_all % 8 != 0);
}

Extras& extras_of(ContextState& c) {
  if (!c.extras) {
    const std::size_t count = c.bindings.memory.size();
    auto made = std::make_shared<Extras>();
    made->borders.resize(count), made->allocators.resize(count), made->copied.resize(count), made->expected.resize(count);
    c.extras = std::move(made);
  }
  return *c.extras;
}

void use_own_memory(ContextState& c, std::size_t b) {
  if (!c.bindings.own[b].memory) {
    const std::int64_t largest = largest_bytes(*c.engine, b);
    c.bindings.own[b] = {c.engine->backend->memory().allocate_host(largest), largest};
  }
  c.bindings.memory[b] = c.bindings.own[b].memory.get(), c.bindings.bytes[b] = c.bindings.own[b].bytes;
}

bool is_plain(const ContextState& c, std::size_t b) noexcept {
  if (!c.extras) return true;
  const Extras& extras = *c.extras;
  return !extras.outputs_wait && extras.expected[b].empty() && !extras.borders[b].base && !extras.allocators[b].allocate &&
         !extras.copied[b] && !holds_state(c, b);
}

void forget_extras(ContextState& c, std::size_t b) noexcept {
  if (!c.extras) return;
  before_changes(c);
  Extras& extras = *c.extras;
  extras.expected[b].clear();
  extras.borders[b].base = nullptr;
  extras.allocators[b].allocate = nullptr;
  extras.copied[b] = false;
  for (std::size_t i = 0; i < extras.states.size(); ++i) {
    const StateLink& link = extras.states[i];
    if (link.in != b && link.out != b) continue;
    for (const std::size_t end : {link.in, link.out}) c.bindings.memory[end] = nullptr, c.bindings.bytes[end] = 0;
    extras.states.erase(extras.states.begin() + static_cast<std::ptrdiff_t>(i--));
  }
  c.bindings.changed = true;
}

namespace {

std::byte nothing[64];   // an address for outputs without elements

Status give(ContextState& c, std::size_t b, Allocator& allocator, bool late) {
  const std::int64_t bytes = bytes_of_binding(c, b);
  if (bytes < 0) return {Status::invalid_shape, static_cast<int>(b)};
  void* memory = allocator.allocate(allocator.user, static_cast<int>(b), bytes);
  if (!memory && bytes == 0) memory = nothing;
  if (!memory) {
    c.run.last_error = "the output's allocator gave no memory";
    return {Status::out_of_memory, -1};
  }
  if (late) {
    const Status::Code code = bytes > 0 ? c.stream->copy(memory, c.bindings.memory[b], bytes) : Status::ok;
    c.extras->copied[b] = true;
    return {code == Status::ok ? c.stream->wait() : code, -1};
  }
  c.bindings.changed = c.bindings.changed || memory != c.bindings.memory[b] || bytes != c.bindings.bytes[b];
  c.bindings.memory[b] = memory, c.bindings.bytes[b] = bytes;
  return {};
}

// Sizes as far as they are known before the run.
Status know_shapes(ContextState& c) noexcept {
  if (c.shapes.changed) {
    for (std::size_t b = 0; b < c.bindings.memory.size(); ++b)   // what was given for other shapes may be too small
      if (c.extras->allocators[b].allocate && !c.extras->allocators[b].late) c.bindings.memory[b] = nullptr, c.bindings.bytes[b] = 0;
    if (Status s = resolve_shapes(c); !s) return s;
  }
  return forget_symbols(c, *c.frame().open);
}

bool any(const std::vector<Allocator>& allocators) noexcept {
  return std::any_of(allocators.begin(), allocators.end(), [](const Allocator& a) { return a.allocate != nullptr; });
}

}  // namespace

Status call_allocators(ContextState& c, bool late) noexcept {
  if (!any(c.extras->allocators)) return {};
  try {
    if (!late)
      if (Status s = know_shapes(c); !s) return s;
    const plan::Program& program = c.program();
    for (std::size_t b = program.inputs.size(); b < c.bindings.memory.size(); ++b) {
      Allocator& allocator = c.extras->allocators[b];
      if (!allocator.allocate) continue;
      if (!late) allocator.late = !is_known(c, program.outputs[b - program.inputs.size()].dims);
      if (allocator.late && !late && c.bindings.memory[b] != c.bindings.own[b].memory.get()) c.bindings.memory[b] = nullptr;
      if (allocator.late && !late && !c.bindings.memory[b]) use_own_memory(c, b), c.bindings.changed = true;
      if (allocator.late != late) continue;
      if (Status s = give(c, b, allocator, late); !s) return s;
    }
    return {};
  } catch (...) {
    return out_of_memory(c);
  }
}

Status before_preparing_run(ContextState& c) noexcept {
  take_next_shapes(c);
  std::fill(c.extras->copied.begin(), c.extras->copied.end(), false);
  return call_allocators(c, false);
}

// Allocators are asked in runs alone.
Status before_preparing(ContextState& c) noexcept {
  try {
    take_next_shapes(c);
    for (std::size_t b = 0; b < c.bindings.memory.size(); ++b)
      if (c.extras->allocators[b].allocate && !c.bindings.memory[b]) use_own_memory(c, b), c.bindings.changed = true;
    return {};
  } catch (...) {
    return out_of_memory(c);
  }
}

// The one memory from which a device takes what the host copies may still be read, and outputs of the run before wait for the host.
Status before_enqueuing(ContextState& c) noexcept {
  const Extras& extras = *c.extras;
  const bool copies = std::any_of(extras.borders.begin(), extras.borders.begin() + c.engine->inputs,
                                  [](const Border& b) { return b.base && b.copied && !b.on_device; });
  if (!copies && !extras.outputs_wait) return {};
  if (Status s{c.stream->wait(), -1}; !s) return s;
  return after_run(c);
}

void before_changes(ContextState& c) noexcept {
  if (!c.extras->outputs_wait || c.stream->wait() != Status::ok) return;
  after_run(c);
}

Status check_expected(ContextState& c) {
  const plan::Program& program = c.program();
  for (std::size_t b = program.inputs.size(); b < c.bindings.memory.size(); ++b) {
    const Shape& expected = c.extras->expected[b];
    const plan::Operand& formal = program.outputs[b - program.inputs.size()];
    if (expected.empty() || !is_known(c, formal.dims)) continue;
    for (std::size_t d = 0; d < expected.size(); ++d)
      if (c.shapes.dims[static_cast<std::size_t>(formal.dims[d])] != expected[d]) {
        c.run.last_error = "the tensor that is bound there has another shape";
        return {Status::invalid_binding, static_cast<int>(b)};
      }
  }
  return {};
}

Status before_steps(ContextState& c) noexcept {
  if (Status s = copy_borders(c, true, false); !s) return s;
  return copy_borders(c, true, true);
}

Status after_steps(ContextState& c) noexcept {
  c.extras->outputs_wait = true;
  return copy_borders(c, false, true);
}

Status after_run(ContextState& c) noexcept {
  if (!std::exchange(c.extras->outputs_wait, false)) return {};
  if (Status s = copy_borders(c, false, false); !s) return s;
  return call_allocators(c, true);
}

}  // namespace tenfold::runtime

namespace tenfold {

BindingMemory binding_memory(const Engine& engine, int binding) {
  const runtime::EngineState& e = *runtime::state_of(engine);
  require(binding >= 0 && binding < static_cast<int>(e.bindings.size()), ErrorKind::invalid_argument, "there is no binding ", binding,
          ", the engine has ", e.bindings.size());
  const auto b = static_cast<std::size_t>(binding), inputs = static_cast<std::size_t>(e.inputs);
  using Kind = ir::ValueType::Kind;
  const Kind kind = e.plan.bindings[b].type.kind;
  BindingMemory memory{.kind = kind == Kind::sequence   ? ValueKind::sequence
                               : kind == Kind::optional ? ValueKind::optional
                               : kind == Kind::map      ? ValueKind::map
                                                        : ValueKind::tensor,
                       .bytes = runtime::largest_bytes(e, b), .location = e.info.on_gpu ? Location::device : Location::host};
  for (const runtime::OpenTop& top : e.programs)
    if (b >= inputs && top.outputs_grow[b - inputs]) memory.bytes = -1;
  return memory;
}

Status bind_strided(ExecutionContext& context, int binding, void* memory, std::int64_t bytes,
                    std::span<const std::int64_t> strides) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  const auto count = static_cast<int>(c.bindings.memory.size());
  if (binding < 0 || binding >= count || !memory || bytes < 0) return {Status::invalid_binding, binding};
  const auto b = static_cast<std::size_t>(binding);
  const BindingInfo& info = c.engine->bindings[b];
  const bool negative = std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s < 0; });
  try {
    c.run.last_error.clear();
    if (strides.size() != info.shape.size()) c.run.last_error = cat(strides.size(), " strides are given for ", info.shape.size(), " axes");
    else if (negative) c.run.last_error = "a stride is negative";
    else if (runtime::is_object(*c.engine, b)) c.run.last_error = "it has no memory: bind_value()";
    else if (bits(info.dtype) < 8) c.run.last_error = "elements of less than a byte have no strides";
    else if (strides.size() > 64) c.run.last_error = "more than 64 axes";
    if (!c.run.last_error.empty()) return {Status::invalid_binding, binding};
    runtime::Extras& extras = runtime::extras_of(c);
    runtime::forget_extras(c, b);
    extras.borders[b] = {.base = memory, .bytes = bytes, .strides = {strides.begin(), strides.end()}, .copied = true, .on_device = false};
    c.bindings.memory[b] = memory, c.bindings.bytes[b] = bytes;
    c.bindings.changed = true;
    return {};
  } catch (...) {
    return runtime::out_of_memory(c);
  }
}

bool copied_at_border(const ExecutionContext& context, int binding) noexcept {
  const runtime::ContextState& c = runtime::ContextAccess::of(context);
  const auto count = static_cast<int>(c.bindings.memory.size());
  return c.extras && binding >= 0 && binding < count && c.extras->copied[static_cast<std::size_t>(binding)];
}

Status set_allocator(ExecutionContext& context, int output, OutputAllocator allocate, void* user) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  if (output < c.engine->inputs || output >= static_cast<int>(c.bindings.memory.size())) return {Status::invalid_binding, output};
  const auto b = static_cast<std::size_t>(output);
  if (runtime::is_object(*c.engine, b)) return {Status::invalid_binding, output};
  try {
    runtime::Extras& extras = runtime::extras_of(c);
    runtime::forget_extras(c, b);
    extras.allocators[b] = {.allocate = allocate, .user = user, .late = false};
    c.bindings.memory[b] = nullptr, c.bindings.bytes[b] = 0;
    return {};
  } catch (...) {
    return runtime::out_of_memory(c);
  }
}

}  // namespace tenfold
