// CDist: distances between all rows of two matrices. Differences are squared as they are, so that close rows keep their digits.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const std::string metric = call.attributes.string("metric", "sqeuclidean");
  validate(metric == "euclidean" || metric == "sqeuclidean", "metric is '", metric, "', euclidean or sqeuclidean expected");
  Value *a = unsqueezed(call, call.given(0), {1}), *b = unsqueezed(call, call.given(1), {0});
  Value* sums = one(call, "ReduceSumSquare", {one(call, "Sub", {a, b})}, {{"axes", Ints{2}}, {"keepdims", 0}});
  return {metric == "euclidean" ? one(call, "Sqrt", {sums}) : sums};
}

}  // namespace

OnnxOp onnx_microsoft_cdist() { return {.name = "CDist", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
