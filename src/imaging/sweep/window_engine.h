// An engine with one input for windows, and a context of it.
#pragma once

#include <memory>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class WindowEngine {
 public:
  // `batch`: the windows that are asked for at once. Throws invalid_argument where the engine has other inputs than one
  // for these windows.
  WindowEngine(const SlidingWindow& windows, std::int64_t channels, const Engine& engine, std::int64_t batch);

  std::int64_t min_batch() const { return min_batch_; }   // less than that is not computed
  std::int64_t batch() const { return batch_; }
  const BindingInfo& input() const { return binding(input_); }
  const BindingInfo& binding(int number) const { return engine_.bindings()[static_cast<std::size_t>(number)]; }
  int input_number() const { return input_; }
  const std::vector<int>& outputs() const { return outputs_; }   // numbers of bindings
  std::int64_t window_bytes() const;
  ExecutionContext& context() const { return *context_; }
  void set_batch(std::int64_t batch);
  Shape output_shape(int output) const;     // for the batch that is set; throws where it has not that many windows
  void check(Status status) const;          // throws what it says

 private:
  Engine engine_;
  std::shared_ptr<ExecutionContext> context_;   // borrowed
  std::vector<int> outputs_;
  int input_ = -1;
  Shape shape_;                             // of the input; a batch of 0 was never set
  std::int64_t min_batch_ = 1, batch_ = 1;
};

}  // namespace tenfold::imaging
