// Making a context: its arena, frames, and what a device with memory of its own needs beside them.
#include <cstring>

#include "base/checked.h"
#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

// What lies between steps, at the largest shapes of all profiles, and behind it the scratch of each worker.
std::shared_ptr<void> allocate_arena(const EngineState& engine, std::int64_t arena_bytes, std::int64_t workers) try {
  return engine.backend->allocate(arena_bytes + engine.scratch_stride * workers);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::out_of_memory) throw;
  const std::string parts = cat("results of steps take ", arena_bytes, " at the largest shapes of the profiles, the scratch of ", workers,
                                " threads ", engine.scratch_stride * workers);
  throw Error(ErrorKind::out_of_memory,
              cat(error.what(), " for a context: ", parts, "; smaller shapes (--maxShapes) or fewer threads take less"));
}

void own_arena(ContextState& c) {
  c.arena_room = backends::scratch_stride(c.engine->info.arena_bytes);
  c.arena = allocate_arena(*c.engine, c.arena_room, c.stream->parallel().workers());
  c.scratch = static_cast<std::byte*>(c.arena.get()) + c.arena_room;
}

// The caller's memory: scratch, whose size does not depend on shapes, then the arena as far as it goes.
void borrow_arena(ContextState& c, const ContextOptions& options) {
  const std::int64_t scratch = scratch_room(*c.engine, c.stream->parallel().workers());
  require(reinterpret_cast<std::uintptr_t>(options.memory) % kContextAlignment == 0, ErrorKind::invalid_argument,
          "memory for a context has to be aligned to ", kContextAlignment, " bytes");
  require(options.bytes >= scratch, ErrorKind::invalid_argument, "memory of ", options.bytes,
          " bytes is given for a context whose scratch takes ", scratch, "; Engine::arena_bytes tells how much it needs");
  require(!is_staged(*c.engine) || c.engine->backend->kind_of(options.memory) == backends::MemoryKind::device, ErrorKind::invalid_argument,
          "memory for a context of ", c.engine->info.device, " has to be that device's, the host's is given");
  c.scratch = static_cast<std::byte*>(options.memory);
  c.arena = {std::shared_ptr<void>(), c.scratch + scratch};
  c.arena_room = options.bytes - scratch;
}

// An input with a default finds it in the context's own memory, which is taken where nothing is bound.
void fill_defaults(ContextState& c) {
  const plan::Plan& plan = c.engine->plan;
  for (std::size_t b = 0; b < plan.bindings.size(); ++b) {
    const std::int32_t constant = plan.bindings[b].default_constant;
    if (constant < 0) continue;
    const auto index = static_cast<std::size_t>(constant);
    const std::int64_t bytes = plan.constants[index].bytes;
    c.own[b] = {c.engine->backend->allocate_host(bytes), bytes};
    if (bytes > 0) std::memcpy(c.own[b].memory.get(), plan.bytes_of(index), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

std::unique_ptr<ContextState> make_context(std::shared_ptr<EngineState> engine, const ContextOptions& options) {
  auto made = std::make_unique<ContextState>();
  ContextState& c = *made;
  c.engine = std::move(engine);
  c.stream = c.engine->backend->open_stream({.threads = c.engine->options.threads, .pin_threads = c.engine->options.pin_threads});
  if (options.memory) borrow_arena(c, options);
  else own_arena(c);
  std::size_t symbols = 0, dims = 0, grown = 0;
  for (const OpenTop& top : c.engine->programs) {
    c.frames.push_back(make_frame(top.body));
    c.frames.back().arena = static_cast<std::byte*>(c.arena.get());
    if (is_staged(*c.engine)) make_staging(c.frames.back(), *c.engine, top);
    symbols = std::max(symbols, top.symbols.size());
    dims = std::max(dims, top.dims.size());
    grown = std::max(grown, top.body.program->grown.size());
  }
  c.symbols.assign(symbols, 0);
  c.dims.assign(dims, 0);
  c.known.assign(symbols, ir::DimCode::Known::value);
  c.grown.resize(grown);
  c.grown_bytes.assign(grown, -1);
  const std::size_t bindings = c.engine->bindings.size();
  c.memory.assign(bindings, nullptr);
  c.memory_bytes.assign(bindings, 0);
  c.own.resize(bindings);
  fill_defaults(c);
  make_objects(c);
  c.occupied.reserve(bindings);
  if (is_staged(*c.engine)) make_mirrors(c);
  for (const BindingInfo& b : c.engine->bindings) {
    if (!b.is_input) break;
    c.input_shapes.push_back(b.shape);
    c.input_set.push_back(std::find(b.shape.begin(), b.shape.end(), -1) == b.shape.end());
  }
  return made;
}

}  // namespace tenfold::runtime
