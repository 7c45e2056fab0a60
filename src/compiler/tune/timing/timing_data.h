// What operands of timed kernels hold.
#pragma once

#include <map>
#include <memory>

#include "backends/stream.h"

namespace tenfold::tune {

// Fills a device's memory with random numbers: how much power a GPU draws, and so its clock, depends on how many bits change from one
// number to the next, and constant operands would let every kernel look as quick as the clock allows.
class RandomNumbers {
 public:
  explicit RandomNumbers(backends::Stream& stream) : stream_(stream) {}
  // False: not for this type, whose numbers may be indices or conditions.
  bool fill(void* memory, DType dtype, std::int64_t bytes);

 private:
  const Tensor& some(DType dtype);

  backends::Stream& stream_;
  std::map<DType, Tensor> some_;
};

}  // namespace tenfold::tune
