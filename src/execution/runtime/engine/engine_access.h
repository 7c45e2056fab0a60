// The way from an Engine to its state and back, for what stands above this folder.
#pragma once

#include <utility>

#include "tenfold/engine.h"

namespace tenfold::runtime {

struct EngineAccess {
  static Engine engine(std::shared_ptr<EngineState> state) { return Engine(std::move(state)); }
  static const std::shared_ptr<EngineState>& state(const Engine& engine) { return engine.state_; }
};
inline Engine engine_of(std::shared_ptr<EngineState> state) { return EngineAccess::engine(std::move(state)); }
inline const std::shared_ptr<EngineState>& state_of(const Engine& engine) { return EngineAccess::state(engine); }

}  // namespace tenfold::runtime
