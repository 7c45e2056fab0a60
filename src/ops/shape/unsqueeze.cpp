// Unsqueeze: inserts dims of extent 1 so that they stand at `axes` of the result.
#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/elements.h"
#include "ops/onnx_node.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const int rank = call.rank(0) + ops::need_length(call, 1, "axes");
  const std::vector<int> axes = ops::need_axes(call, 1, rank);
  Dims dims;
  auto next = call.dims(0).begin();
  for (int d = 0; d < rank; ++d) dims.push_back(std::find(axes.begin(), axes.end(), d) == axes.end() ? *next++ : Dim(1));
  call.out(0, call.dtype(0), std::move(dims));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

std::vector<Value*> from_1(OnnxImport& import) {
  return import.add("Unsqueeze", {import.need(0), import.ints(import.attributes.ints("axes"))}, {});
}

}  // namespace

OpDef op_unsqueeze() {
  return {.name = "Unsqueeze", .min_inputs = 2, .max_inputs = 2, .infer = infer, .reference = ops::copy_whole, .movement = true,
          .from_onnx = {{"Unsqueeze", 13}, {"Unsqueeze", 1, from_1}},
          .cases = {"f32[3,4] i64[1]{0}", "f32[3,4] i64[2]{-1,1}", "f32[] i64[1]{0}", "i2[5] i64[2]{0,2}"}};
}

}  // namespace tenfold::ir
