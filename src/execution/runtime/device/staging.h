// Operands that the host reads or writes where it cannot read the device's memory.
#pragma once

#include "runtime/memory.h"

namespace tenfold::runtime {

// What a step of the host's, a branch or a loop has on either side of the link.
struct StepOnDevice {
  // Host copies of a host step's operands, then results, and of what a branch or a loop decides by. Without memory until they are needed
  // where no bound is known.
  std::vector<DynamicBuffer> staged;
  std::shared_ptr<void> loop_header;          // of a loop's body: see device/loop.cpp
  std::vector<DynamicBuffer> slices;            // of a loop: places for slices that do not start where tactics may count on
};

void make_staging(Frame& frame, const EngineState& engine, const OpenTop& top);
// What a host step uses: its copy of operand `i` that lies at `data`, or the operand itself.
void* on_host(const BoundStep& bound, std::size_t i, void* data) noexcept;
// The host's copy of an operand that a branch or a loop decides by, or the operand itself.
const void* decided_by(const BoundStep& bound, std::size_t operand) noexcept;
Status stage_in(ContextState& context, BoundStep& bound) noexcept;    // operands to the host; waits
Status stage_out(ContextState& context, BoundStep& bound) noexcept;   // results of a host step to the device; waits, but in the prologue
void note_largest_results(Frame& frame) noexcept;                     // of steps of the prologue, once dims are what they are at most

}  // namespace tenfold::runtime
