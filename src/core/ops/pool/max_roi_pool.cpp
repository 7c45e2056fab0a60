// MaxRoiPool: the largest pixel of each part of regions, whose edges are rounded to pixels. Operands: images, and regions (number of the
// image, x1, y1, x2, y2).
#include <algorithm>
#include <cmath>

#include "ops/dim_rules.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

Ints pooled_shape(const Attributes& a) {
  validate(a.has("pooled_shape"), "attribute 'pooled_shape' is missing");
  const Ints& shape = a.ints("pooled_shape");
  validate(shape.size() == 2 && shape[0] > 0 && shape[1] > 0 && shape[0] <= 1 << 20 && shape[1] <= 1 << 20, "pooled_shape has ",
           shape.size(), " extents, two from 1 to 2^20 expected");
  validate(a.number("spatial_scale") > 0, "spatial_scale is ", a.number("spatial_scale"), ", a positive number expected");
  return shape;
}

void infer(InferCall& call) {
  const Ints pooled = pooled_shape(call.attributes());
  call.check_shape(call.rank(0) == 4 && call.rank(1) == 2, "images and regions have the ranks ", call.rank(0), " and ", call.rank(1),
                   ", expected 4 and 2");
  call.check_shape(!call.dims(1)[1].is_constant() || call.dims(1)[1] == Dim(5), "regions have ", call.dims(1)[1].text(),
                   " numbers, 5 expected");
  call.out(0, call.dtype(0), {call.dims(1)[0], call.dims(0)[1], pooled[0], pooled[1]});
}

struct Span {
  std::int64_t begin, end;
};

// Part i of `parts` of a region along one dim, inside of the image.
Span part(std::int64_t first, std::int64_t last, std::int64_t i, std::int64_t parts, std::int64_t extent) {
  const std::int64_t size = std::max<std::int64_t>(last - first + 1, 1);   // below 2^32, and parts below 2^21
  const std::int64_t begin = first + i * size / parts, end = first + ((i + 1) * size + parts - 1) / parts;
  return {std::clamp<std::int64_t>(begin, 0, extent), std::clamp<std::int64_t>(end, 0, extent)};
}

template <class T>
T largest(const T* plane, std::int64_t width, Span rows, Span columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return T(0);
  T result = plane[rows.begin * width + columns.begin];
  for (std::int64_t y = rows.begin; y < rows.end; ++y)
    for (std::int64_t x = columns.begin; x < columns.end; ++x) {
      const T v = plane[y * width + x];
      if (v > result || v != v) result = v;
    }
  return result;
}

template <class T>
void run(Call& call) {
  const Shape &images = call.in[0].shape, &out = call.out[0].shape;
  call.check_shape(call.in[1].shape == Shape({out[0], 5}), "regions have the shape ", text(call.in[1].shape),
                   ", five numbers each expected");
  const double scale = static_cast<double>(call.attributes().number("spatial_scale"));
  const ops::RealIn<T> x(call.in[0]), regions(call.in[1]);
  const ops::RealOut<T> y(call.out[0]);
  std::int64_t to = 0;
  for (std::int64_t r = 0; r < out[0]; ++r) {
    const auto number = [&](std::int64_t i) {
      const double v = static_cast<double>(regions[r * 5 + i]) * (i ? scale : 1);
      call.check_shape(std::abs(v) < 1 << 30, "region ", r, " has the number ", v);
      return static_cast<std::int64_t>(std::round(v));
    };
    const std::int64_t image = number(0), x1 = number(1), y1 = number(2), x2 = number(3), y2 = number(4);
    call.check_index(image >= 0 && image < images[0], "region ", r, " lies in image ", image, " of ", images[0]);
    for (std::int64_t c = 0; c < out[1]; ++c)
      for (std::int64_t i = 0; i < out[2]; ++i)
        for (std::int64_t k = 0; k < out[3]; ++k)
          y[to++] = largest(x.data() + (image * images[1] + c) * images[2] * images[3], images[3], part(y1, y2, i, out[2], images[2]),
                            part(x1, x2, k, out[3], images[3]));
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_max_roi_pool() {
  return {.name = "MaxRoiPool",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, T -> T; T: float",
          .attributes = {{"spatial_scale", 1.0f}},
          .optional_attributes = "pooled_shape: ints",
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .cases = {"f32[2,3,9,8] f32[3,5]{0,0,0,6,6,1,1.5,2,9,7.5,1,-1,-2,20,4} pooled_shape=[3,2]",
                    "f32[1,2,9,8] f32[2,5]{0,0,0,12,12,0,3,4,3,4} pooled_shape=[2,2] spatial_scale=0.5",
                    "f32[1,2,5,5] f32[0,5] pooled_shape=[2,2]"},
          .on_host = "there is no kernel yet"};
}

}  // namespace tenfold::ir
