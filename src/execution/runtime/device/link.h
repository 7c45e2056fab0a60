// DeviceLink: what a context has beside all others where the host cannot read the device's memory.
#pragma once

#include "backends/device_memory.h"
#include "runtime/memory.h"
#include "runtime/run.h"

namespace tenfold::backends { class GraphCapturer; class Stream; }

namespace tenfold::runtime {

struct BranchPlan;

// How a binding reaches the device (transfers.cpp).
struct Transfer {
  void* used = nullptr;                       // what the steps read or write
  void* pinned = nullptr;                     // what a graph copies to or from there, unless it is the same
  const void* on_host = nullptr;              // where the host reads it
  bool by_host = false;                       // the host copies between the caller's memory and `pinned`
  backends::MemoryKind kind = backends::MemoryKind::device;   // of the caller's memory
  bool apart = false;                         // the stream copies between the caller's memory and `used`, outside graphs
};
// The steps of a program at one set of shapes and addresses, with the copies of what is pinned, as the stream can replay them.
struct CapturedGraph {
  int program = -1;
  std::vector<std::int64_t> dims;
  std::vector<Transfer> transfers;
  std::shared_ptr<const void> steps;
  bool branches = false;  // steps lie beside each other: at these shapes that is faster
  std::int64_t used = 0; // the run that replayed it last, by number
};
// Shapes of a run whose steps went one by one.
struct SeenShape {
  int program = -1;
  std::vector<std::int64_t> dims;
  std::int64_t run = 0;
};

// What becomes of the steps at the shapes and addresses of now: they are replayed, captured, or launched one by one.
enum class GraphPhase : std::uint8_t {
  decided,        // replayed if there is a graph of them, launched one by one if there is none
  seen_once,      // launched one by one; if these shapes come again, a graph may pay
  capture_next,   // the steps behind the prologue were launched one by one, and are captured while the device is busy with them
  off             // the capturer gave up, or the caller wants no graphs
};

struct DeviceLink {
  std::vector<DynamicBuffer> mirrors;           // per binding: its memory on the device
  std::vector<std::shared_ptr<void>> staging; // per binding: pinned memory for what the caller has elsewhere; made when needed
  std::vector<Transfer> transfers;            // per binding
  std::vector<CapturedGraph> graphs;          // the last used last
  std::vector<SeenShape> seen_shapes;            // shapes without a graph, the last seen last
  std::int64_t runs = 0;
  backends::GraphCapturer* capturer = nullptr;     // of the context's stream; null: it has none
  GraphPhase graph = GraphPhase::decided;
  const BranchPlan* branches = nullptr;        // while steps are captured beside each other
  Launch launch = Launch::run;                 // of the last run
  bool prologue_uploads = false;               // what the prologue's steps gave may still be on its way to the device
  double enqueue_ms = 0;                      // of the last run whose parts were timed, where the host asks and the device computes

  // What is off stays off.
  void decide(GraphPhase next) noexcept {
    if (graph != GraphPhase::off) graph = next;
  }
};

// With device memory for every binding; throws out_of_memory.
std::shared_ptr<DeviceLink> make_device_link(const EngineState& engine, backends::Stream& stream);
// Room for an output where steps write it, unless the caller bound the device's memory. `moved`: it lies elsewhere now.
Status grow_mirror(ContextState& context, Frame& frame, std::size_t binding, std::int64_t bytes, bool& moved) noexcept;

}  // namespace tenfold::runtime
