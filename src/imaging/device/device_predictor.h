// Who answers windows that lie on a GPU, with results that stay there.
#pragma once

#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::imaging {

class DevicePredictor {
 public:
  struct Output {
    const void* memory;   // [window, channel, roi...]
    DType dtype;
    Shape window;         // [channel, roi...]
  };
  virtual ~DevicePredictor() = default;
  virtual std::int64_t batch() const = 0;          // windows of every call
  virtual DType dtype() const = 0;                 // of windows
  virtual void* windows() = 0;                     // where batch() windows are cut to: [window, channel, roi...]
  virtual const std::vector<Output>& outputs() const = 0;
  virtual void enqueue(void* stream) = 0;          // behind what is on the stream
  virtual void finish() = 0;                       // waits, and throws what a run met
};

}  // namespace tenfold::imaging
