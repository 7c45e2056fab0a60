// Indices of extreme elements along one axis.
#include "ops/reduce/arg_common.h"

#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const auto axis = static_cast<std::size_t>(call.axis(call.attributes().integer("axis"), call.rank(0)));
  Dims dims = call.dims(0);
  call.check_shape(dims[axis] != Dim(0), "axis ", axis, " is empty, so that no element can be chosen");
  if (call.attributes().integer("keepdims") != 0) dims[axis] = Dim(1);
  else dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  call.out(0, DType::i64, std::move(dims));
}

template <class T>
void choose(Call& call, bool largest) {
  const TensorRef& in = call.in[0];
  const ops::RealIn<T> elements(in);
  const auto rank = static_cast<std::int64_t>(in.shape.size());
  std::int64_t axis = call.attributes().integer("axis");
  if (axis < 0) axis += rank;
  const bool last = call.attributes().integer("select_last_index") != 0;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t extent = in.shape[at], inner = element_count(std::span(in.shape).subspan(at + 1));
  const std::int64_t outer = element_count(std::span(in.shape).first(at));
  for (std::int64_t r = 0; r < outer * inner; ++r) {
    const std::int64_t first = r / inner * extent * inner + r % inner;
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < extent; ++i) {
      const T a = elements[first + i * inner], b = elements[first + best * inner];
      const bool ahead = largest ? a > b : a < b;
      // The first NaN, which alone differs from itself, is chosen before all numbers, as numpy does.
      const bool better = b != b ? last && a != a : a != a || ahead || (last && a == b);
      if (better) best = i;
    }
    call.out[0].as<std::int64_t>()[r] = best;
  }
}

}  // namespace

void arg_reduce(Call& call, bool largest) {
  ops::with_number(call.in[0].dtype, [&]<class T>(T) { choose<T>(call, largest); });
}

OpDef arg_reduction(std::string name, void (*reference)(Call&)) {
  return {.name = name,
          .types = "dense -> i64",
          .attributes = {{"axis", 0}, {"keepdims", 1}, {"select_last_index", 0}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .cases = {"f32[2,3,5] axis=1", "f32[4,7] axis=-1 keepdims=0", "f32[9]", "i64[3,8](0,2) axis=1",
                    "i64[3,8](0,2) axis=1 select_last_index=1", "f16[3,9] axis=1", "u8[5,2](0,3)", "f32[0,3] axis=1",
                    "f64[2,1,3] axis=1"},
          .tolerance = 0};
}

}  // namespace tenfold::ir
