// Frames: the steps of a program, bound to the extents and the memory of one context.
#pragma once

#include <deque>

#include "runtime/engine/opened.h"

namespace tenfold::runtime {

struct ContextState;
struct StepOnDevice;

// A loop between two iterations: what its body's bindings are made of.
struct LoopState {
  std::int64_t iteration = 0;
  std::uint8_t go = 1, next = 1;              // the condition that the body reads, and writes
  bool second_first = false;                  // which of a carried value's two places the first iteration writes
  std::vector<Shape> carried;                 // extents that carried values have, where they change
};

// One step bound to memory. Operands' extents and strides live in Frame::extents.
struct BoundStep {
  const OpenStep* open = nullptr;
  std::shared_ptr<const void> kernel;         // the engine's, or for plug-ins the context's own
  std::vector<backends::Bound> in, out;
  ir::Call call;                              // host steps
  std::vector<ir::TensorRef> result_shapes;   // branches and loops that define symbols; at the front: results at their largest
  std::vector<struct Frame> frames;           // one per nested program
  LoopState loop;
  std::vector<Shape> agreed;  // extents of the operands that were last found to suit each other
  std::shared_ptr<StepOnDevice> on_device;    // what the host has to do with it on a device with memory of its own; null: nothing
};
// One (possibly nested) program bound to a context. Moved, never copied: its steps point into its extents.
struct Frame {
  Frame() = default;
  Frame(Frame&&) = default;
  Frame(const Frame&) = delete;
  const OpenProgram* open = nullptr;
  std::deque<BoundStep> steps;
  std::vector<plan::DimIndex> extent_index;   // extents[i] = dims[extent_index[i]]
  std::vector<std::int64_t> extents;
  std::vector<void*> bindings;                // memory of the program's inputs, then outputs
  std::byte* arena = nullptr;
};

Frame make_frame(const OpenProgram& program);
void resolve_extents(Frame& frame, std::span<const std::int64_t> dims) noexcept;
void resolve_addresses(const ContextState& context, Frame& frame) noexcept;

}  // namespace tenfold::runtime
