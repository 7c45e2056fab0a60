// How far two tensors lie apart.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::cli {

// l0: elements that differ; l1, l2, l_inf: norms of the difference; relative: l_inf over the largest magnitude of the second.
struct Distance {
  std::string name, problem;   // a problem, such as other shapes, stands in place of numbers
  bool missing = false;        // one of the two has no tensor of this name
  double l0 = 0, l1 = 0, l2 = 0, l_inf = 0, relative = 0, cosine = 1;
};
Distance distance(const std::string& name, const Tensor& a, const Tensor& b);

}  // namespace tenfold::cli
