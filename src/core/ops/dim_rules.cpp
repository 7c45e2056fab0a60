// Dim arithmetic under bounds, and checked reading of index operands.
#include "ops/dim_rules.h"

#include <algorithm>
#include <cmath>

namespace tenfold::ops {
using ir::Dim;

Dim DimRules::smaller(Dim a, Dim b) const {
  const ir::Interval difference = (a - b).bounds(box_);
  if (difference.upper <= 0) return a;
  if (difference.lower >= 0) return b;
  return min(a, b);
}

Dim DimRules::larger(Dim a, Dim b) const {
  const ir::Interval difference = (a - b).bounds(box_);
  if (difference.upper <= 0) return b;
  if (difference.lower >= 0) return a;
  return max(a, b);
}

Dim DimRules::clamp_index(Dim index, Dim extent, Dim low, Dim high) const {
  const ir::Interval range = index.bounds(box_);
  if (range.upper < 0) {
    index = index + extent;
  } else if (range.lower < 0) {
    index = index + less(index, Dim(0)) * extent;
  }
  return smaller(larger(index, low), high);
}

Dim same_extent(const ir::InferCall& call, Dim a, Dim b, const char* what) {
  if (a == b) return a;
  call.check_shape(!(a.is_constant() && b.is_constant()), what, " differ: ", a.text(), " and ", b.text());
  return b.is_constant() ? b : a;
}

ir::Ints need_integers(const ir::InferCall& call, int i, const char* what) {
  const ir::Dims values = call.need_contents(i, what);
  call.supported(ir::is_constant(values), what, " depend on the shapes of inputs: ", ir::text(values));
  return ir::constants(values);
}

std::vector<int> need_axes(const ir::InferCall& call, int i, int rank) {
  std::vector<int> axes;
  for (std::int64_t value : need_integers(call, i, "axes")) {
    const int axis = call.axis(value, rank);
    call.check_shape(std::find(axes.begin(), axes.end(), axis) == axes.end(), "axis ", value, " is given twice");
    axes.push_back(axis);
  }
  return axes;
}

Dim largest(ir::InferCall& call, std::span<const Dim> dims) {
  const DimRules rules(call);
  Dim result(1);
  for (Dim d : dims) result = rules.larger(result, d);
  return result;
}

bool knows_integers(const ir::InferCall& call, int i) { return call.contents(i) && ir::is_constant(*call.contents(i)); }

int need_length(const ir::InferCall& call, int i, const char* what) {
  const ir::Dims& dims = call.dims(i);
  if (dims.empty()) return 1;   // some models write a list of one as a scalar
  call.check_shape(dims.size() == 1, what, " has rank ", dims.size(), ", 1 expected");
  call.supported(dims[0].is_constant(), what, " has ", dims[0].text(), " elements: the rank of the result is unknown");
  call.check_shape(dims[0].constant() >= 0 && dims[0].constant() <= ir::kMaxContents, what, " has ", dims[0].text(), " elements");
  return static_cast<int>(dims[0].constant());
}

ir::Dims need_shape(ir::InferCall& call, int i) {
  if (const ir::Dims* shape = call.contents(i)) {
    for (ir::Dim extent : *shape)
      call.check_shape(!extent.is_constant() || extent.constant() >= 0, "extent ", extent.text(), " is negative");
    return *shape;
  }
  ir::Dims dims;
  const int rank = need_length(call, i, "shape");
  for (int d = 0; d < rank; ++d) dims.push_back(call.new_symbol(cat("extent", d), 0, ir::kUnbounded));
  return dims;
}

MaybeDim scalar_contents(const ir::InferCall& call, int i) {
  if (const ir::Dims* values = call.contents(i)) {
    call.check_shape(values->size() == 1, "input ", i, " has ", values->size(), " elements, 1 expected");
    return {true, values->front()};
  }
  const Tensor* tensor = call.constant(i);
  if (!tensor) return {};
  call.validate(tensor->dtype() != DType::string, "input ", i, " is a string, a number expected");
  call.check_shape(tensor->size() == 1, "input ", i, " has ", tensor->size(), " elements, 1 expected");
  const double value = tensor->as_double(0);
  call.check_shape(std::abs(value) < static_cast<double>(ir::kUnbounded), "input ", i, " is ", value, ", out of range");
  return {true, tensor->as_int(0)};
}

std::optional<Shape> constant_shape(const ir::Dims& dims) {
  if (!ir::is_constant(dims)) return std::nullopt;
  Shape shape = ir::constants(dims);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0 || n > ir::kMaxContents; }) ||
      element_count(shape) > ir::kMaxContents)
    return std::nullopt;
  return shape;
}

}  // namespace tenfold::ops
