// Memory whose size is known only in the run: growing buffers and the context's own outputs, kept for the runs that follow.
#include "plan/extent.h"
#include "runtime/state.h"

namespace tenfold::runtime {

bool is_known(const ContextState& c, std::span<const plan::DimIndex> dims) noexcept {
  const OpenTop& top = c.engine->programs[static_cast<std::size_t>(c.active)];
  for (plan::DimIndex d : dims)
    for (std::int32_t s : top.defined_by_steps[static_cast<std::size_t>(d)])
      if (c.known[static_cast<std::size_t>(s)] != ir::DimCode::Known::value) return false;
  return true;
}

bool grow(ContextState& c, GrownBuffer& buffer, std::int64_t bytes) noexcept {
  if (bytes <= buffer.bytes) return true;
  try {
    std::shared_ptr<void> larger = c.engine->backend->allocate(bytes);
    if (buffer.bytes > 0 && c.stream->copy(larger.get(), buffer.memory.get(), buffer.bytes) != Status::ok) return false;
    buffer.memory = std::move(larger);
    buffer.bytes = bytes;
    return true;
  } catch (...) {
    return false;
  }
}

bool grow_on_host(ContextState& c, GrownBuffer& buffer, std::int64_t bytes) noexcept {
  if (bytes <= buffer.bytes && buffer.memory) return true;
  try {
    buffer.memory = c.engine->backend->allocate_host(bytes);
    buffer.bytes = bytes;
    return true;
  } catch (...) {
    return false;
  }
}

bool output_grows(const ContextState& c, std::size_t binding) noexcept {
  const OpenTop& top = c.engine->programs[static_cast<std::size_t>(c.active)];
  const std::size_t inputs = top.body.program->inputs.size();
  return binding >= inputs && top.outputs_grow[binding - inputs];
}

namespace {

// Room for an output on a device with memory of its own, where steps write it unless the caller bound the device's memory.
Status settle_mirror(ContextState& c, Frame& frame, std::size_t b, std::int64_t bytes, bool& moved) noexcept {
  GrownBuffer& mirror = c.mirrors[b];
  const void* const old = mirror.memory.get();
  if (bytes <= mirror.bytes || frame.bindings[b] != old) return {};
  if (!grow(c, mirror, bytes)) return {Status::out_of_memory, static_cast<int>(b)};
  frame.bindings[b] = c.transfers[b].used = mirror.memory.get();
  moved = true;
  return {};
}

// `moved`: an output of the context's own had to. The caller's memory cannot grow: settle() compares it before each run at new shapes, so
// that shapes can be asked for before there is memory for them; sizes found in a run are compared here.
Status settle_outputs(ContextState& c, const plan::Program& program, Frame& frame, bool in_run, bool& moved) noexcept {
  for (std::size_t b = program.inputs.size(); b < c.memory.size(); ++b) {
    const plan::Operand& formal = program.outputs[b - program.inputs.size()];
    if (!c.memory[b] || !is_known(c, formal.dims)) continue;   // prepare() asks for what is not bound
    const auto bytes = plan::formal_bytes(formal, c.dims);
    if (!bytes) return {Status::invalid_shape, -1};
    const bool staged = !c.mirrors.empty();
    if (staged)
      if (Status s = settle_mirror(c, frame, b, *bytes, moved); !s) return s;
    if (*bytes <= c.memory_bytes[b]) continue;
    if (c.memory[b] != c.own[b].memory.get()) {
      if (in_run) return {Status::invalid_binding, static_cast<int>(b)};
      continue;
    }
    if (!(staged ? grow_on_host : grow)(c, c.own[b], *bytes)) return {Status::out_of_memory, -1};
    c.memory[b] = c.own[b].memory.get();
    c.memory_bytes[b] = c.own[b].bytes;
    if (staged) continue;
    frame.bindings[b] = c.memory[b];
    moved = true;
  }
  return {};
}

}  // namespace

Status settle_memory(ContextState& c, bool in_run) noexcept {
  const plan::Program& program = *c.engine->programs[static_cast<std::size_t>(c.active)].body.program;
  Frame& frame = c.frames[static_cast<std::size_t>(c.active)];
  bool moved = false;
  for (std::size_t g = 0; g < program.grown.size(); ++g) {
    c.grown_bytes[g] = -1;
    if (!is_known(c, std::span(&program.grown[g], 1))) continue;
    const std::int64_t bytes = c.dims[static_cast<std::size_t>(program.grown[g])];
    if (bytes < 0) return {Status::invalid_shape, -1};
    moved = moved || bytes > c.grown[g].bytes;
    if (!grow(c, c.grown[g], bytes)) return {Status::out_of_memory, -1};
    c.grown_bytes[g] = bytes;
  }
  if (Status s = settle_outputs(c, program, frame, in_run, moved); !s) return s;
  if (!plan::extents_fit(c.engine->plan, program, c.dims, c.grown_bytes, c.known)) return {Status::invalid_shape, -1};
  if (Status s = check_arena(c, program); !s) return s;
  resolve_extents(frame, c.dims);
  if (moved) c.recordings.clear(), resolve_addresses(c, frame);   // those hold what addresses were
  return {};
}

Status grow_operand(ContextState& c, const Frame& frame, const plan::Operand& o, std::int64_t bytes) noexcept {
  Frame& top = c.frames[static_cast<std::size_t>(c.active)];
  const auto index = static_cast<std::size_t>(o.at.index);
  const bool output = o.at.space == plan::Space::binding && &frame == &top;
  if (bytes == 0) return {};
  if (o.at.offset != 0 || (!output && o.at.space != plan::Space::grown)) return {Status::too_large, -1};
  if (output && !c.mirrors.empty() && top.bindings[index] == c.mirrors[index].memory.get()) {
    bool moved = false;
    const Status settled = bytes <= c.mirrors[index].bytes ? Status{} : settle_mirror(c, top, index, bytes + bytes / 2, moved);
    if (moved) c.recordings.clear(), resolve_addresses(c, top);
    return settled;
  }
  if (bytes <= (output ? c.memory_bytes[index] : c.grown[index].bytes)) return {};
  if (output && c.memory[index] != c.own[index].memory.get()) return {Status::invalid_binding, static_cast<int>(index)};
  if (!grow(c, output ? c.own[index] : c.grown[index], bytes + bytes / 2)) return {Status::out_of_memory, -1};
  if (output) {
    top.bindings[index] = c.memory[index] = c.own[index].memory.get();
    c.memory_bytes[index] = c.own[index].bytes;
  }
  c.recordings.clear();
  resolve_addresses(c, top);
  return {};
}

}  // namespace tenfold::runtime
