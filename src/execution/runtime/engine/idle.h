// The contexts that an engine keeps for borrow_context().
#pragma once

#include <memory>
#include <mutex>

#include "tenfold/engine.h"

namespace tenfold::runtime {

// A context in here does not own its engine, whose last member this is.
class IdleContexts {
 public:
  IdleContexts();
  ~IdleContexts();
  IdleContexts(const IdleContexts&) = delete;
  std::unique_ptr<ExecutionContext> take();                         // null: there is none
  std::unique_ptr<ExecutionContext> keep(std::unique_ptr<ExecutionContext> context);   // gives back what is one too many

 private:
  std::mutex mutex_;
  std::unique_ptr<ExecutionContext> context_;
};

}  // namespace tenfold::runtime
