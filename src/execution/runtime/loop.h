// Running a loop step, and where its slices lie.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

Status run_loop(ContextState& context, Frame& frame, BoundStep& bound) noexcept;
// Room for what the iteration under way leaves to the next, as soon as its extents are known. `moved`: memory changed its place.
Status size_carried(ContextState& context, BoundStep& bound, bool& moved) noexcept;
// The bindings of a loop's body for the iteration that its state names.
void bind_iteration(BoundStep& bound) noexcept;
// Where slice `s` of this iteration lies: first of what is sliced, then of the stacks.
struct LoopSlice {
  void* at = nullptr;
  std::int64_t bytes = 0;
};
LoopSlice loop_slice(const BoundStep& bound, std::size_t s) noexcept;

}  // namespace tenfold::runtime
