// A run on a stream that the caller is capturing: its steps become part of the caller's graph, one by one.
//
// Whatever the driver forbids while a stream is captured, or what would tie the graph to things outside of it, does not happen: no memory
// is taken, nothing waits, no event of ours is recorded, no graph of ours is launched. All of that prepare() has done before.
#include "backends/stream.h"
#include "base/check.h"
#include "runtime/bindings/extras.h"
#include "runtime/device/replay.h"
#include "runtime/device/transfers.h"

namespace tenfold::runtime {
namespace {

const char* control_of(plan::StepKind kind) {
  return kind == plan::StepKind::host     ? "runs on the host"
         : kind == plan::StepKind::branch ? "is a branch, which the host decides"
         : kind == plan::StepKind::loop   ? "is a loop, which the host decides"
                                          : nullptr;
}

std::string steps_refused(const Frame& frame) {
  for (const BoundStep& bound : frame.steps)
    if (const char* why = control_of(bound.open->step->kind))
      return cat("step '", bound.open->step->name, "' (", bound.open->step->op, ") ", why, "; EngineInfo::waits_in_run tells so");
  return {};
}

std::string binding_refused(const ContextState& c) {
  for (std::size_t b = 0; b < c.bindings.memory.size(); ++b) {
    const Transfer& t = c.device->transfers[b];
    const BindingInfo& info = c.engine->bindings[b];
    if (t.by_host || (t.apart && t.on_host))
      return cat(info.is_input ? "input '" : "output '", info.name,
                 "' lies in memory of the host's that the GPU does not read by itself: bind memory of the GPU's, or pinned memory");
    if (!c.extras) continue;
    if (c.extras->allocators[b].allocate) return cat("output '", info.name, "' has an allocator, which each run asks");
    if (c.extras->borders[b].base && c.extras->borders[b].copied && !c.extras->borders[b].on_device)
      return cat(info.is_input ? "input '" : "output '", info.name, "' has strides in the host's memory, which the host copies");
  }
  if (c.extras)
    for (const StateLink& link : c.extras->states)
      if (link.places[1].memory)
        return cat("the state '", c.engine->bindings[link.in].name,
                   "' changes its place after each run; one that is continued in place does not");
  return {};
}

// Why this run cannot become part of a graph; empty: it can.
std::string refused(const ContextState& c, Launch launch) {
  const OpenTop& top = c.top();
  const Frame& frame = c.frame();
  if (std::string why = steps_refused(frame); !why.empty()) return why;
  if (top.steps_define() || !top.body.program->grown.empty()) return "sizes that only the run knows cannot become part of a graph";
  if (launch == Launch::enqueue_then)
    return "enqueue_then() tells of the end of a run, which the graph's launches have, not its capture; call enqueue()";
  if (c.watch.step_timer || c.watch.observer || c.watch.parts)
    return "a profiler, an observer or measure_parts() waits between steps: take it off";
  return binding_refused(c);
}

Status enqueue_steps(ContextState& c) noexcept {
  Frame& frame = c.frame();
  if (c.extras)
    if (Status s = copy_borders(c, true, true); !s) return s;
  if (Status s = copy_apart(c, true); !s) return s;
  if (Status s = copy_pinned(c, true); !s) return s;
  if (Status s = run_frame(c, frame); !s) return s;
  if (Status s = copy_pinned(c, false); !s) return s;
  if (Status s = copy_apart(c, false); !s) return s;
  return c.extras ? copy_borders(c, false, true) : Status{};
}

Status refuse(ContextState& c, Status::Code code, std::string why) noexcept {
  try {
    c.run.last_error = "the stream is being captured: " + why;
  } catch (...) {
    c.run.last_error.clear();
  }
  return {code, -1};
}

}  // namespace

Status capture_context(ContextState& c, void* stream, Launch launch) noexcept {
  try {
    c.run.last_error.clear();
    if (c.extras) take_next_shapes(c);
    if (c.shapes.changed || c.bindings.changed || c.bindings.states_moved || c.shapes.active < 0)
      return refuse(c, Status::not_ready,
                    "call prepare() before the capture begins, behind the last change of shapes and bindings");
    if (std::string why = refused(c, launch); !why.empty()) return refuse(c, Status::failed, std::move(why));
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
  c.stream->callers()->capture_into(stream);
  const Status status = enqueue_steps(c);
  c.stream->callers()->capture_into(nullptr);
  return status;
}

}  // namespace tenfold::runtime
