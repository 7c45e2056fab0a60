// Who answers windows: something with memory for a batch of them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class WindowEngine;

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::int64_t batch() const = 0;      // the most windows of a call
  virtual DType dtype() const = 0;             // of windows
  virtual void* windows() = 0;                 // where batch() windows are cut to: [windows, channel, roi...]
  // Of the first `count` windows; `first` is the first one's number. Valid until the next call.
  virtual std::vector<Tensor> run(std::int64_t count, std::int64_t first) = 0;
};

std::unique_ptr<Predictor> function_predictor(const SlidingWindow& windows, std::int64_t channels,
                                              const WindowPredictor& predict, const SweepOptions& options);
std::unique_ptr<Predictor> engine_predictor(std::unique_ptr<WindowEngine> engine);
// The mean of several engines' outputs, which have the same shapes. Their batch is the smallest of their own.
std::unique_ptr<Predictor> ensemble_predictor(const SlidingWindow& windows, std::int64_t channels,
                                              std::vector<std::unique_ptr<WindowEngine>> engines,
                                              const SweepOptions& options);
std::vector<std::unique_ptr<WindowEngine>> ensemble_engines(const SlidingWindow& windows, std::int64_t channels,
                                                            std::span<const Engine> engines,
                                                            const SweepOptions& options);

}  // namespace tenfold::imaging
