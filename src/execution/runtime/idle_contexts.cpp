// Contexts that wait for the next call.
#include "tenfold/internal/idle_contexts.h"

#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/engine/idle.h"

namespace tenfold::runtime {
namespace {

// All there are. Locked before any of them, and while contexts are dropped: their engines end no earlier.
struct All {
  std::mutex mutex;
  std::vector<IdleContexts*> list;
};
All& all() {
  static All* const those = new All;   // engines may end after what is static
  return *those;
}

// False: it is not to be used any more.
bool clear(ExecutionContext& context) noexcept {
  if (!context.wait()) return false;
  ContextState& c = ContextAccess::of(context);
  for (std::size_t b = 0; b < c.bindings.memory.size(); ++b)
    if (!context.bind(static_cast<int>(b), nullptr, 0)) return false;
  context.set_step_timer({}), context.set_observer({});
  context.measure_parts(false), context.mark_ranges(false), context.wait_how(Wait::spin_shortly);
  return static_cast<bool>(context.set_profile(-1));
}

void give_back(ExecutionContext* borrowed) {
  std::unique_ptr<ExecutionContext> context(borrowed);
  ContextState& c = ContextAccess::of(*context);
  const std::shared_ptr<EngineState> engine = c.engine;   // ends last
  if (!clear(*context)) return;
  c.engine = {std::shared_ptr<void>(), engine.get()};
  if (std::unique_ptr<ExecutionContext> one_too_many = engine->idle->keep(std::move(context)))
    ContextAccess::of(*one_too_many).engine = engine;
}

}  // namespace

IdleContexts::IdleContexts() {
  std::lock_guard lock(all().mutex);
  all().list.push_back(this);
}
IdleContexts::~IdleContexts() {
  std::lock_guard lock(all().mutex);
  std::erase(all().list, this);
}
std::unique_ptr<ExecutionContext> IdleContexts::take() {
  std::lock_guard lock(mutex_);
  return std::move(context_);
}
std::unique_ptr<ExecutionContext> IdleContexts::keep(std::unique_ptr<ExecutionContext> context) {
  std::lock_guard lock(mutex_);
  if (!context_) context_ = std::move(context);
  return context;
}

}  // namespace tenfold::runtime

namespace tenfold {

std::shared_ptr<ExecutionContext> borrow_context(const Engine& engine) {
  using runtime::ContextAccess;
  const std::shared_ptr<runtime::EngineState>& state = runtime::state_of(engine);
  std::unique_ptr<ExecutionContext> context = state->idle->take();
  if (context) ContextAccess::of(*context).engine = state;
  else context = engine.create_context();
  return {context.release(), runtime::give_back};
}

bool drop_idle_contexts() noexcept {
  std::lock_guard lock(runtime::all().mutex);
  bool any = false;
  for (runtime::IdleContexts* const one : runtime::all().list)
    if (one->take()) any = true;
  return any;
}

}  // namespace tenfold
