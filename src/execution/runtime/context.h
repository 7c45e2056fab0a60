// What an ExecutionContext holds, by concern: whoever needs one of them includes its header alone.
#pragma once

#include "backends/stream.h"
#include "runtime/bindings/bindings.h"
#include "runtime/observe.h"
#include "runtime/run.h"
#include "runtime/shapes.h"
#include "runtime/values.h"

namespace tenfold::runtime {

struct DeviceLink;
struct Extras;
class Completer;
struct ContextState {
  std::shared_ptr<EngineState> engine;
  std::unique_ptr<backends::Stream> stream;
  WorkMemory work;
  std::vector<Frame> frames;                  // one per top-level program, made with the context
  ShapeState shapes;
  BindingState bindings;
  ObjectState objects;
  std::shared_ptr<DeviceLink> device;         // null: host and device share memory
  std::shared_ptr<Extras> extras;             // for bindings beyond plain memory (extras.h); null: there are none
  RunState run;
  Watch watch;
  std::shared_ptr<Completer> completer;       // of runs that tell when they are over (completion.cpp); null: there were none

  // Of the program that covers the shapes.
  const OpenTop& top() const noexcept { return engine->programs[static_cast<std::size_t>(shapes.active)]; }
  const plan::Program& program() const noexcept { return *top().body.program; }
  Frame& frame() noexcept { return frames[static_cast<std::size_t>(shapes.active)]; }
  const Frame& frame() const noexcept { return frames[static_cast<std::size_t>(shapes.active)]; }
};

// What stands behind a context, for functions of other public headers.
struct ContextAccess {
  static ContextState& of(ExecutionContext& context) { return *context.state_; }
  static const ContextState& of(const ExecutionContext& context) { return *context.state_; }
  static std::unique_ptr<ExecutionContext> make(std::unique_ptr<ContextState> state) {
    return std::unique_ptr<ExecutionContext>(new ExecutionContext(std::move(state)));
  }
};
// Throws out_of_memory, saying what takes the memory.
std::unique_ptr<ContextState> make_context(std::shared_ptr<EngineState> engine, const ContextOptions& options = {});

}  // namespace tenfold::runtime
