// Kernels of support vector machines.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::ops {

// gamma, coef0, degree and the kind of kernel, of attributes.
class VectorKernel {
 public:
  VectorKernel(const ir::Attributes& attributes, bool only_linear);
  double operator()(const double* x, const float* vector, std::int64_t features) const;

 private:
  enum class Kind { linear, poly, rbf, sigmoid } kind_ = Kind::linear;
  double gamma_ = 0, offset_ = 0, degree_ = 0;
};

}  // namespace tenfold::ops
