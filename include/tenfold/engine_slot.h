// EngineSlot: an engine that can be replaced while others use it, by one with other weights or another plan.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "tenfold/engine.h"

namespace tenfold {

// An engine that was taken out of its slot, until nobody who had it from there has it any more. Thread safe.
class TENFOLD_API RetiredEngine {
 public:
  bool drained() const noexcept;
  bool wait(std::chrono::nanoseconds longest) const;              // until it is drained; false: it took longer
  void wait() const;
  struct State;
  explicit RetiredEngine(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

// Thread safe. What users get is the engine as it is then: they and their contexts keep it, whatever the slot holds later.
class TENFOLD_API EngineSlot {
 public:
  explicit EngineSlot(Engine engine);
  ~EngineSlot();
  EngineSlot(const EngineSlot&) = delete;
  EngineSlot& operator=(const EngineSlot&) = delete;

  Engine get() const;
  // From now on get() gives the new one. What is returned tells when all that had the old one from get(), and the contexts made of it,
  // are gone; copies of the Engine that was put into the slot do not count.
  RetiredEngine replace(Engine engine);

 private:
  struct Published;
  mutable std::mutex mutex_;
  std::shared_ptr<const Published> published_;
};

}  // namespace tenfold
