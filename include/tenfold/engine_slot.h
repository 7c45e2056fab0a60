// EngineSlot: holds an engine that can be replaced while others use it, by one with other weights or another plan.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "tenfold/engine.h"

namespace tenfold {

// An engine that was taken out of its slot. It is drained once nobody has it any more who got it from the slot. Thread
// safe.
class TENFOLD_API RetiredEngine {
 public:
  bool drained() const noexcept;
  bool wait(std::chrono::nanoseconds longest) const;              // waits until it is drained; false: it took longer
  void wait() const;
  struct State;
  explicit RetiredEngine(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

// Thread safe. Users get the engine that the slot holds at the time. They and their contexts keep it, whatever the slot
// holds later.
class TENFOLD_API EngineSlot {
 public:
  explicit EngineSlot(Engine engine);
  ~EngineSlot();
  EngineSlot(const EngineSlot&) = delete;
  EngineSlot& operator=(const EngineSlot&) = delete;

  Engine get() const;
  // From now on get() gives the new engine. The RetiredEngine is drained when all engines that get() gave of the old
  // one, and the contexts made of them, are gone. Copies of the Engine that was put into the slot do not count.
  RetiredEngine replace(Engine engine);

 private:
  struct Published;
  mutable std::mutex mutex_;
  std::shared_ptr<const Published> published_;
};

}  // namespace tenfold
