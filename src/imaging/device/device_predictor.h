// Who answers windows that lie on a GPU, with results that stay there.
#pragma once

#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::imaging {

class DevicePredictor {
 public:
  // Where batch() windows are cut to: [window, channel, roi...], the spatial axes of a channel with these strides.
  struct Input {
    void* memory;
    DType dtype;
    Shape strides;
    std::int64_t windows;   // that it has room for and that are computed: batch() at least
  };
  struct Output {
    const void* memory;   // [window, channel, roi...], likewise
    DType dtype;
    Shape window;         // [channel, roi...]
    Shape strides;
  };
  virtual ~DevicePredictor() = default;
  virtual std::int64_t batch() const = 0;          // windows of every call
  virtual std::vector<Input> inputs() const = 0;   // which all get the same windows
  virtual const std::vector<Output>& outputs() const = 0;
  virtual void enqueue(void* stream) = 0;          // behind what is on the stream
  virtual void finish() = 0;                       // waits, and throws what a run met
};

}  // namespace tenfold::imaging
