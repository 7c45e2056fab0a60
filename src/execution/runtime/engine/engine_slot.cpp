// Replaceable engines: users hold the published engine through a handle whose end tells who waits.
#include "tenfold/engine_slot.h"

#include <condition_variable>
#include <optional>

#include "runtime/engine/engine_access.h"

namespace tenfold {

struct RetiredEngine::State {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool drained = false;
};

struct EngineSlot::Published {
  explicit Published(Engine given) : engine(std::move(given)) {}
  ~Published() {
    engine.reset();   // what it held is free before anybody is told
    const std::lock_guard lock(users->mutex);
    users->drained = true;
    users->changed.notify_all();
  }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  std::optional<Engine> engine;
  const std::shared_ptr<RetiredEngine::State> users = std::make_shared<RetiredEngine::State>();
};

bool RetiredEngine::drained() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->drained;
}
bool RetiredEngine::wait(std::chrono::nanoseconds longest) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, longest, [&] { return state_->drained; });
}
void RetiredEngine::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->drained; });
}

EngineSlot::EngineSlot(Engine engine) : published_(std::make_shared<const Published>(std::move(engine))) {}
EngineSlot::~EngineSlot() = default;

Engine EngineSlot::get() const {
  std::shared_ptr<const Published> now;
  {
    const std::lock_guard lock(mutex_);
    now = published_;
  }
  runtime::EngineState* const state = runtime::state_of(*now->engine).get();
  return runtime::engine_of({std::move(now), state});
}

RetiredEngine EngineSlot::replace(Engine engine) {
  auto next = std::make_shared<const Published>(std::move(engine));
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const RetiredEngine::State> users = published_->users;
  published_.swap(next);   // the old one goes behind the lock
  return RetiredEngine(std::move(users));
}

}  // namespace tenfold
