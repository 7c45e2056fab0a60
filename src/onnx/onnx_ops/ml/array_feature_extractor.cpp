// ArrayFeatureExtractor: columns chosen by their numbers.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const int rank = known_rank(call, 0);
  check_shape(rank >= 1, "its operand is a scalar, [batch, features] expected");
  Value* columns = reshaped(call, call.given(1), {-1});
  if (rank == 1) return {reshaped(call, one(call, "Gather", {call.in(0), columns}, {{"axis", 0}}), {1, -1})};
  return call.add("Gather", {call.in(0), columns}, {{"axis", rank - 1}});
}

}  // namespace

OnnxOp onnx_ml_array_feature_extractor() { return {.name = "ArrayFeatureExtractor", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
