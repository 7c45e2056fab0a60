// Checks and arithmetic of quantization parameters.
#include "ops/quantize/quantize_common.h"

#include <cmath>

#include "base/checked.h"

namespace tenfold::ops {

using ir::Dim;
using ir::Dims;

namespace {

// A default axis that a vector or scalar does not have is no mistake while one scale serves the whole tensor.
std::int64_t axis_of(const ir::Call& call) {
  const std::int64_t given = call.attributes().integer("axis"), rank = static_cast<std::int64_t>(call.in[0].shape.size());
  const std::int64_t axis = given < 0 ? given + rank : given;
  return axis >= 0 && axis < rank ? axis : 0;
}

}  // namespace

void check_scales(ir::InferCall& call) {
  const Dims &x = call.dims(0), &scale = call.dims(1);
  const std::int64_t block = call.attributes().integer("block_size");
  call.validate(block >= 0, "block_size is ", block);
  if (call.has(2)) {
    call.check_shape(call.rank(2) <= call.rank(1) || call.dims(2) == Dims{Dim(1)}, "the zero point has rank ", call.rank(2), ", the scale ",
              call.rank(1));
    for (int i = 0; i < call.rank(2) && i < call.rank(1); ++i) {
      const Dim zero = call.dims(2)[static_cast<std::size_t>(i)], wanted = scale[static_cast<std::size_t>(i)];
      call.check_shape(!zero.is_constant() || !wanted.is_constant() || zero == wanted || zero == Dim(1), "the zero point has the extent ",
                       zero.text(), " at dim ", i, ", the scale ", wanted.text());
    }
  }
  if (scale.empty() || (scale.size() == 1 && scale[0] == Dim(1))) return;
  const auto axis = static_cast<std::size_t>(call.axis(call.attributes().integer("axis"), call.rank(0)));
  if (block == 0) {
    call.check_shape(scale.size() == 1, "the scale has rank ", scale.size(),
                     ", expected one value, one per slice along an axis, or a block_size");
    call.check_shape(!scale[0].is_constant() || !x[axis].is_constant() || scale[0] == x[axis], "the scale has ", scale[0].text(),
                     " values for ", x[axis].text(), " slices along axis ", axis);
    return;
  }
  call.check_shape(scale.size() == x.size(), "a blocked scale has rank ", scale.size(), ", the tensor ", x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Dim expected = i == axis ? ceil_div(x[i], block) : x[i];
    call.check_shape(!expected.is_constant() || !scale[i].is_constant() || expected == scale[i], "the scale has the extent ",
                     scale[i].text(), " at dim ", i, ", expected ", expected.text());
  }
}

ScaleIndex::ScaleIndex(const ir::Call& call)
    : view_(call.in[0].shape, axis_of(call)), count_(call.in[1].size()), block_(call.attributes().integer("block_size")) {
  if (count_ != 1) {
    if (block_ > 0) blocks_ = tenfold::ceil_div(view_.extent, block_);
    const std::int64_t expected = block_ == 0 ? view_.extent : view_.outer * blocks_ * view_.inner;
    call.check_shape(count_ == expected, "the scale has ", count_, " values, expected ", expected);
  }
  if (!call.has(2)) return;
  one_zero_ = call.in[2].size() == 1;
  call.check_shape(one_zero_ || call.in[2].size() == count_, "the zero point has ", call.in[2].size(), " values, the scale ", count_);
}

IntegerRange range_of(DType type) {
  const int width = bits(type);
  const bool is_signed = type == DType::i2 || type == DType::i4 || type == DType::i8 || type == DType::i16 || type == DType::i32;
  if (is_signed) return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
  return {0, std::ldexp(1.0, width) - 1};
}

}  // namespace tenfold::ops
