// Memory that the steps of a context work in, and what grows with sizes that only the run knows.
#pragma once

#include <memory>

#include "runtime/frame.h"

namespace tenfold::runtime {

// Memory of a context is aligned so, the caller's too.
inline constexpr std::int64_t kContextAlignment = 256;

// Memory that is allocated once its size is known, and kept.
struct DynamicBuffer {
  std::shared_ptr<void> memory;
  std::int64_t bytes = 0;
};

// Loops that run, the innermost first: sizes found in its body are of nobody else's concern.
struct RunningLoop {
  BoundStep* bound;
  const RunningLoop* outer;
};

struct WorkMemory {
  std::shared_ptr<void> arena;                // and behind it every worker's scratch; the caller's begins with the scratch
  std::int64_t arena_room = 0;                // bytes for results of steps
  std::byte* scratch = nullptr;
  std::vector<DynamicBuffer> grown;
  std::vector<std::int64_t> dynamic_bytes;      // as extents_fit() wants them
  const RunningLoop* loop = nullptr;
};

// out_of_memory where the caller's memory is too small for the dims that the context has.
Status check_arena(ContextState& context, const plan::Program& program) noexcept;
std::int64_t scratch_room(const EngineState& engine, std::int64_t workers);   // bytes in front of a caller's arena

// Gives growing buffers and own outputs the bytes that the dims ask for, and compares every operand with its memory. After any
// change of dims, before a step runs.
Status ensure_memory(ContextState& context, bool in_run) noexcept;
Status ensure_body_memory(ContextState& context, BoundStep& loop) noexcept;   // the same within an iteration, for the body alone
// At least `bytes` for one operand of growing size (a stack of unknown length), its content kept.
Status grow_operand(ContextState& context, const Frame& frame, const plan::Operand& operand, std::int64_t bytes) noexcept;
// In a catch block of an allocation: the exception's words become the run's error.
Status out_of_memory(ContextState& context) noexcept;
bool grow(ContextState& context, DynamicBuffer& buffer, std::int64_t bytes) noexcept;
bool grow_on_host(ContextState& context, DynamicBuffer& buffer, std::int64_t bytes) noexcept;  // what was in it is lost

}  // namespace tenfold::runtime
