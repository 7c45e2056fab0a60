// Memory whose size is known only in the run: growing buffers and the context's own outputs, kept for the runs that follow.
#include "runtime/memory.h"

#include "backends/backend.h"
#include "plan/extent.h"
#include "runtime/context.h"
#include "runtime/device/link.h"
#include "runtime/loop.h"

namespace tenfold::runtime {

Status out_of_memory(ContextState& c) noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    try {
      c.run.last_error = e.what();
    } catch (...) {
      c.run.last_error.clear();
    }
  } catch (...) {
    c.run.last_error.clear();
  }
  return {Status::out_of_memory, -1};
}

bool grow(ContextState& c, DynamicBuffer& buffer, std::int64_t bytes) noexcept {
  if (bytes <= buffer.bytes) return true;
  try {
    std::shared_ptr<void> larger = c.engine->backend->memory().allocate(bytes);
    if (buffer.bytes > 0 && c.stream->copy(larger.get(), buffer.memory.get(), buffer.bytes) != Status::ok) return false;
    buffer.memory = std::move(larger);
    buffer.bytes = bytes;
    return true;
  } catch (...) {
    return static_cast<bool>(out_of_memory(c));
  }
}

bool grow_on_host(ContextState& c, DynamicBuffer& buffer, std::int64_t bytes) noexcept {
  if (bytes <= buffer.bytes && buffer.memory) return true;
  try {
    buffer.memory = c.engine->backend->memory().allocate_host(bytes);
    buffer.bytes = bytes;
    return true;
  } catch (...) {
    return static_cast<bool>(out_of_memory(c));
  }
}

namespace {

// Recordings hold what addresses were.
void fix_addresses(ContextState& c, Frame& frame) noexcept {
  if (c.device) c.device->graphs.clear();
  resolve_addresses(c, frame);
}

// `moved`: an output of the context's own had to. The caller's memory cannot grow: settle() compares it before each run at new shapes, so
// that shapes can be asked for before there is memory for them; sizes found in a run are compared here.
Status bind_unbound_outputs(ContextState& c, const plan::Program& program, Frame& frame, bool in_run, bool& moved) noexcept {
  for (std::size_t b = program.inputs.size(); b < c.bindings.memory.size(); ++b) {
    const plan::Operand& formal = program.outputs[b - program.inputs.size()];
    if (!c.bindings.memory[b] || !is_known(c, formal.dims)) continue;   // prepare() asks for what is not bound
    const auto bytes = plan::formal_bytes(formal, c.shapes.dims);
    if (!bytes) return {Status::invalid_shape, -1};
    const bool staged = c.device != nullptr;
    if (staged)
      if (Status s = grow_mirror(c, frame, b, *bytes, moved); !s) return s;
    if (*bytes <= c.bindings.bytes[b]) continue;
    if (c.bindings.memory[b] != c.bindings.own[b].memory.get()) {
      if (in_run) return {Status::invalid_binding, static_cast<int>(b)};
      continue;
    }
    if (!(staged ? grow_on_host : grow)(c, c.bindings.own[b], *bytes)) return {Status::out_of_memory, -1};
    c.bindings.memory[b] = c.bindings.own[b].memory.get();
    c.bindings.bytes[b] = c.bindings.own[b].bytes;
    if (staged) continue;
    frame.bindings[b] = c.bindings.memory[b];
    moved = true;
  }
  return {};
}

// In loops buffers grow by half at a time: what a cache takes is asked for a few times and not in each iteration.
Status size_buffer(ContextState& c, const plan::Program& program, std::size_t g, bool& moved) noexcept {
  c.work.dynamic_bytes[g] = -1;
  if (!is_known(c, std::span(&program.grown[g], 1))) return {};
  const std::int64_t bytes = c.shapes.dims[static_cast<std::size_t>(program.grown[g])], had = c.work.grown[g].bytes;
  if (bytes < 0) return {Status::invalid_shape, -1};
  c.work.dynamic_bytes[g] = bytes;
  if (bytes <= had) return {};
  moved = true;
  return grow(c, c.work.grown[g], c.work.loop ? std::max(bytes, had + had / 2) : bytes) ? Status{} : Status{Status::out_of_memory, -1};
}

}  // namespace

Status ensure_body_memory(ContextState& c, BoundStep& loop) noexcept {
  const plan::Program& program = c.program();
  bool moved = false;
  for (std::size_t g : loop.open->sizes.grown)
    if (const Status s = size_buffer(c, program, g, moved); !s) return s;
  if (const Status s = size_carried(c, loop, moved); !s) return s;
  Frame& body = loop.frames[0];
  if (!plan::extents_fit(c.engine->plan, *body.open->program, c.shapes.dims, c.work.dynamic_bytes, c.shapes.known))
    return {Status::invalid_shape, -1};
  resolve_extents(body, c.shapes.dims);
  if (moved) fix_addresses(c, c.frame());
  return {};
}

Status ensure_memory(ContextState& c, bool in_run) noexcept {
  const plan::Program& program = c.program();
  Frame& frame = c.frame();
  bool moved = false;
  for (std::size_t g = 0; g < program.grown.size(); ++g)
    if (const Status s = size_buffer(c, program, g, moved); !s) return s;
  if (Status s = bind_unbound_outputs(c, program, frame, in_run, moved); !s) return s;
  if (!plan::extents_fit(c.engine->plan, program, c.shapes.dims, c.work.dynamic_bytes, c.shapes.known)) return {Status::invalid_shape, -1};
  if (Status s = check_arena(c, program); !s) return s;
  resolve_extents(frame, c.shapes.dims);
  if (moved) fix_addresses(c, frame);
  return {};
}

Status grow_operand(ContextState& c, const Frame& frame, const plan::Operand& o, std::int64_t bytes) noexcept {
  Frame& top = c.frame();
  const auto index = static_cast<std::size_t>(o.at.index);
  const bool output = o.at.space == plan::Space::binding && &frame == &top;
  if (bytes == 0) return {};
  if (o.at.offset != 0 || (!output && o.at.space != plan::Space::grown)) return {Status::too_large, -1};
  if (output && c.device && top.bindings[index] == c.device->mirrors[index].memory.get()) {
    bool moved = false;
    const Status settled = bytes <= c.device->mirrors[index].bytes ? Status{} : grow_mirror(c, top, index, bytes + bytes / 2, moved);
    if (moved) fix_addresses(c, top);
    return settled;
  }
  if (bytes <= (output ? c.bindings.bytes[index] : c.work.grown[index].bytes)) return {};
  if (output && c.bindings.memory[index] != c.bindings.own[index].memory.get()) return {Status::invalid_binding, static_cast<int>(index)};
  if (!grow(c, output ? c.bindings.own[index] : c.work.grown[index], bytes + bytes / 2)) return {Status::out_of_memory, -1};
  if (output) {
    top.bindings[index] = c.bindings.memory[index] = c.bindings.own[index].memory.get();
    c.bindings.bytes[index] = c.bindings.own[index].bytes;
  }
  fix_addresses(c, top);
  return {};
}

}  // namespace tenfold::runtime
