// Bindings of a context: the memory of its inputs and outputs.
#pragma once

#include "runtime/memory.h"

namespace tenfold::runtime {

// The bytes that a binding takes of the address space.
struct Occupied {
  std::uintptr_t first = 0, end = 0;
  std::size_t binding = 0;
};

struct BindingState {
  std::vector<void*> memory;                  // per binding: the caller's or own; with a DeviceLink on the host or on the device
  std::vector<std::int64_t> bytes;
  std::vector<DynamicBuffer> own;
  bool changed = true;                        // since addresses were settled
  bool states_moved = false;                  // states swapped their places since then
  std::vector<Occupied> occupied;             // by address; see check_overlaps()
  int overlapping[2] = {-1, -1};              // bindings that were refused last because they share memory
};

// Refuses an output that shares memory with another binding, unless the plan lets it take the place of that input (overlap.cpp). For the
// active program and the addresses bound; asked whenever these change.
Status check_overlaps(ContextState& context) noexcept;
bool output_grows(const ContextState& context, std::size_t binding) noexcept;
std::int64_t bytes_of_binding(const ContextState& context, std::size_t binding) noexcept;   // at the shapes set; -1: not to be counted

}  // namespace tenfold::runtime
