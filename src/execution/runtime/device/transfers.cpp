// How each binding reaches a device with memory of its own: read where it is, copied in the graph, by way of pinned memory of the
// context's own, or by the stream from wherever it lies.
#include "runtime/device/transfers.h"

#include <cstring>

#include "backends/backend.h"
#include "runtime/context.h"

namespace tenfold::runtime {
namespace {

using backends::MemoryKind;

constexpr std::int64_t kAcrossTheBus = 4096;      // what a kernel may read or write in the host's memory: less than a copy costs
constexpr std::int64_t kByTheHost = 1 << 20;      // what the host copies to pinned memory itself: above, the driver does it no slower
constexpr std::uintptr_t kAlignment = 64;         // that tactics may count on

bool aligned(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p) % kAlignment == 0; }

// Operands of the program's steps that are this binding; nested programs do not count, for theirs are not recorded.
int uses(const plan::Program& program, std::size_t binding) noexcept {
  int count = 0;
  for (const plan::Step& step : program.steps)
    for (const auto* side : {&step.in, &step.out})
      for (const plan::Operand& o : *side)
        count += o.at.space == plan::Space::binding && static_cast<std::size_t>(o.at.index) == binding;
  return count;
}

MemoryKind kind_of(const ContextState& c, std::size_t b) noexcept {
  const void* const memory = c.bindings.memory[b];
  return memory == c.bindings.own[b].memory.get() ? MemoryKind::pinned : c.engine->backend->memory().kind_of(memory);
}

Transfer way(ContextState& c, std::size_t b) {
  const std::int64_t max = largest_bytes(*c.engine, b);
  void *memory = c.bindings.memory[b], *mirror = c.device->mirrors[b].memory.get();
  const MemoryKind kind = kind_of(c, b);
  if (kind == MemoryKind::device && aligned(memory)) return {.used = memory, .kind = kind};
  const void* const on_host = kind == MemoryKind::device ? nullptr : memory;
  const Transfer apart{.used = mirror, .on_host = on_host, .kind = kind, .apart = true};
  if (c.watch.parts || kind == MemoryKind::device || output_grows(c, b)) return apart;
  const bool by_host = kind == MemoryKind::pageable;
  if (by_host && (c.device->launch != Launch::run || max > kByTheHost)) return apart;
  if (by_host && !c.device->staging[b]) c.device->staging[b] = c.engine->backend->memory().allocate_host(max);
  void* pinned = by_host ? c.device->staging[b].get() : memory;
  const bool direct = c.engine->backend->memory().device_reads_pinned() && max <= kAcrossTheBus && aligned(pinned) &&
                      uses(c.program(), b) <= 1;   // what no step reads, needs no copy either
  return {.used = direct ? pinned : mirror, .pinned = pinned, .on_host = on_host, .by_host = by_host, .kind = kind};
}

}  // namespace

bool lies_as_before(const ContextState& c, std::size_t b) noexcept { return !c.device || kind_of(c, b) == c.device->transfers[b].kind; }

Status choose_transfers(ContextState& c) noexcept {
  try {
    c.device->staging.resize(c.bindings.memory.size());
    c.device->transfers.resize(c.bindings.memory.size());
    for (std::size_t b = 0; b < c.bindings.memory.size(); ++b) c.device->transfers[b] = way(c, b);
    return {};
  } catch (...) {
    return out_of_memory(c);
  }
}

namespace {

std::pair<std::size_t, std::size_t> side(const ContextState& c, bool inputs) noexcept {
  const auto first_output = static_cast<std::size_t>(c.engine->inputs);
  return inputs ? std::pair{std::size_t{0}, first_output} : std::pair{first_output, c.bindings.memory.size()};
}

Status copy(ContextState& c, std::size_t b, bool in, void* host, void* used) noexcept {
  const std::int64_t bytes = bytes_of_binding(c, b);
  return {in ? c.stream->copy(used, host, bytes) : c.stream->copy(host, used, bytes), -1};
}

}  // namespace

Status copy_apart(ContextState& c, bool inputs) noexcept {
  for (auto [b, end] = side(c, inputs); b < end; ++b)
    if (const Transfer& t = c.device->transfers[b]; t.apart)
      if (Status s = copy(c, b, inputs, c.bindings.memory[b], t.used); !s) return s;
  return {};
}

Status copy_pinned(ContextState& c, bool inputs) noexcept {
  for (auto [b, end] = side(c, inputs); b < end; ++b)
    if (const Transfer& t = c.device->transfers[b]; t.pinned && t.pinned != t.used)
      if (Status s = copy(c, b, inputs, t.pinned, t.used); !s) return s;
  return {};
}

void copy_by_host(ContextState& c, bool inputs) noexcept {
  for (auto [b, end] = side(c, inputs); b < end; ++b) {
    const Transfer& t = c.device->transfers[b];
    if (!t.by_host) continue;
    const auto bytes = static_cast<std::size_t>(bytes_of_binding(c, b));
    if (bytes > 0) inputs ? std::memcpy(t.pinned, c.bindings.memory[b], bytes) : std::memcpy(c.bindings.memory[b], t.pinned, bytes);
  }
}

}  // namespace tenfold::runtime
