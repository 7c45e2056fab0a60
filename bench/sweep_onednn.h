// The sweep's problems as primitives of oneDNN: weights packed as it likes, a convolution's images in the layouts it likes.
#pragma once

#include <memory>
#include <vector>

#include "sweep_problem.h"

namespace sweep {

class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual void run() = 0;
  virtual std::vector<float> result() = 0;  // of the last run, in the problem's order
  virtual std::string implementation() const = 0;
};

// Every primitive that can compute the problem; `bias` may be undefined.
std::vector<std::unique_ptr<Primitive>> onednn_primitives(const Problem& p, const tenfold::Tensor& x, const tenfold::Tensor& w,
                                                          const tenfold::Tensor& bias);
std::string onednn_version();

}  // namespace sweep
