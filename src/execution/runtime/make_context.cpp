// Making a context: its arena, frames, and what a device with memory of its own needs beside them.
#include <cstring>

#include "backends/backend.h"
#include "base/checked.h"
#include "runtime/context.h"
#include "runtime/device/link.h"
#include "runtime/device/staging.h"

namespace tenfold::runtime {
namespace {

// What lies between steps, at the largest shapes of all profiles, and behind it the scratch of each worker.
std::shared_ptr<void> allocate_arena(const EngineState& engine, std::int64_t arena_bytes, std::int64_t workers) try {
  return engine.backend->memory().allocate(arena_bytes + engine.scratch_stride * workers);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::out_of_memory) throw;
  const bool on_host = engine.backend->memory().host_reads();  // other devices' errors say themselves what takes less
  const std::string parts = cat("results of steps take ", arena_bytes, " at the largest shapes of the profiles, the scratch of ", workers,
                                " threads ", engine.scratch_stride * workers);
  throw Error(ErrorKind::out_of_memory, cat(error.what(), on_host ? " for a context: " : "; it is for a context: ", parts,
                                            on_host ? "; smaller shapes (--maxShapes) or fewer threads take less" : ""));
}

void own_arena(ContextState& c) {
  c.work.arena_room = backends::scratch_stride(c.engine->info.arena_bytes);
  c.work.arena = allocate_arena(*c.engine, c.work.arena_room, c.stream->parallel().workers());
  c.work.scratch = static_cast<std::byte*>(c.work.arena.get()) + c.work.arena_room;
}

// The caller's memory: scratch, whose size does not depend on shapes, then the arena as far as it goes.
void borrow_arena(ContextState& c, const ContextOptions& options) {
  const std::int64_t scratch = scratch_room(*c.engine, c.stream->parallel().workers());
  require(reinterpret_cast<std::uintptr_t>(options.memory) % kContextAlignment == 0, ErrorKind::invalid_argument,
          "memory for a context has to be aligned to ", kContextAlignment, " bytes");
  require(options.bytes >= scratch, ErrorKind::invalid_argument, "memory of ", options.bytes,
          " bytes is given for a context whose scratch takes ", scratch, "; Engine::arena_bytes tells how much it needs");
  const bool there = !is_staged(*c.engine) || c.engine->backend->memory().kind_of(options.memory) == backends::MemoryKind::device;
  require(there, ErrorKind::invalid_argument, "memory for a context of ", c.engine->info.device,
          " has to be that device's, the host's is given");
  c.work.scratch = static_cast<std::byte*>(options.memory);
  c.work.arena = {std::shared_ptr<void>(), c.work.scratch + scratch};
  c.work.arena_room = options.bytes - scratch;
}

// An input with a default finds it in the context's own memory, which is taken where nothing is bound.
void fill_defaults(ContextState& c) {
  const plan::Plan& plan = c.engine->plan;
  for (std::size_t b = 0; b < plan.bindings.size(); ++b) {
    const std::int32_t constant = plan.bindings[b].default_constant;
    if (constant < 0) continue;
    const auto index = static_cast<std::size_t>(constant);
    const std::int64_t bytes = plan.constants[index].bytes;
    c.bindings.own[b] = {c.engine->backend->memory().allocate_host(bytes), bytes};
    if (bytes > 0) std::memcpy(c.bindings.own[b].memory.get(), plan.bytes_of(index), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

backends::Stream& stream_of(ContextState& c) noexcept { return *c.stream; }

std::unique_ptr<ContextState> make_context(std::shared_ptr<EngineState> engine, const ContextOptions& options) {
  auto made = std::make_unique<ContextState>();
  ContextState& c = *made;
  c.engine = std::move(engine);
  c.stream = c.engine->backend->open_stream({.threads = c.engine->options.threads, .pin_threads = c.engine->options.pin_threads});
  if (options.memory) borrow_arena(c, options);
  else own_arena(c);
  const bool staged = is_staged(*c.engine);
  std::size_t symbols = 0, dims = 0, grown = 0;
  for (const OpenTop& top : c.engine->programs) {
    c.frames.push_back(make_frame(top.body));
    c.frames.back().arena = static_cast<std::byte*>(c.work.arena.get());
    if (staged) make_staging(c.frames.back(), *c.engine, top);
    symbols = std::max(symbols, top.symbols.size());
    dims = std::max(dims, top.dims.size());
    grown = std::max(grown, top.body.program->grown.size());
  }
  c.shapes.symbols.assign(symbols, 0);
  c.shapes.dims.assign(dims, 0);
  c.shapes.within.assign(dims, 0);
  c.shapes.known.assign(symbols, ir::DimCode::Known::value);
  c.work.grown.resize(grown);
  c.work.dynamic_bytes.assign(grown, -1);
  const std::size_t bindings = c.engine->bindings.size();
  c.bindings.memory.assign(bindings, nullptr);
  c.bindings.bytes.assign(bindings, 0);
  c.bindings.own.resize(bindings);
  fill_defaults(c);
  make_objects(c);
  c.bindings.occupied.reserve(bindings);
  if (staged) c.device = make_device_link(*c.engine, *c.stream);
  for (const BindingInfo& b : c.engine->bindings) {
    if (!b.is_input) break;
    c.shapes.inputs.push_back(b.shape);
    c.shapes.set.push_back(std::find(b.shape.begin(), b.shape.end(), -1) == b.shape.end());
  }
  return made;
}

}  // namespace tenfold::runtime
