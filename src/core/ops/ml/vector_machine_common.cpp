// Linear, polynomial, radial and sigmoid kernels.
#include "ops/ml/vector_machine_common.h"

#include <cmath>

#include "ir/fault.h"

namespace tenfold::ops {

VectorKernel::VectorKernel(const ir::Attributes& attributes, bool only_linear) {
  const std::string& kind = attributes.string("kernel_type");
  ir::validate(kind == "LINEAR" || kind == "POLY" || kind == "RBF" || kind == "SIGMOID", "kernel_type is '", kind,
               "', LINEAR, POLY, RBF or SIGMOID expected");
  if (attributes.has("kernel_params")) {
    const ir::Floats& params = attributes.floats("kernel_params");
    ir::validate(params.empty() || params.size() == 3, "kernel_params has ", params.size(), " entries, gamma, coef0 and degree expected");
    if (!params.empty())
      gamma_ = static_cast<double>(params[0]), offset_ = static_cast<double>(params[1]), degree_ = static_cast<double>(params[2]);
  }
  if (!only_linear) kind_ = kind == "POLY" ? Kind::poly : kind == "RBF" ? Kind::rbf : kind == "SIGMOID" ? Kind::sigmoid : Kind::linear;
}

double VectorKernel::operator()(const double* x, const float* vector, std::int64_t features) const {
  double sum = 0;
  for (std::int64_t f = 0; f < features; ++f) {
    const auto v = static_cast<double>(vector[f]);
    sum += kind_ == Kind::rbf ? (x[f] - v) * (x[f] - v) : x[f] * v;
  }
  switch (kind_) {
    case Kind::poly: return std::pow(gamma_ * sum + offset_, degree_);
    case Kind::sigmoid: return std::tanh(gamma_ * sum + offset_);
    case Kind::rbf: return std::exp(-gamma_ * sum);
    case Kind::linear: break;
  }
  return sum;
}

}  // namespace tenfold::ops
