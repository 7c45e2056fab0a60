// What a device with memory of its own holds of a loop: its body's header, and places for slices. Elsewhere nothing happens here.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

// What the body reads of the count and the condition, and where it writes the next one.
struct LoopHeader {
  void *iteration, *go, *next;
};
LoopHeader loop_header(BoundStep& bound) noexcept;
void* placed_slice(const BoundStep& bound, std::size_t s) noexcept;  // where the body finds it
Status start_loop(ContextState& context, BoundStep& bound) noexcept;
Status start_iteration(ContextState& context, BoundStep& bound) noexcept;
Status finish_iteration(ContextState& context, BoundStep& bound) noexcept;

}  // namespace tenfold::runtime
