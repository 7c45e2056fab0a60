// Squeeze: drops dims of extent 1, those of `axes` or all. Without axes a symbolic dim is kept: its rank has to be known.
#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/elements.h"
#include "ops/onnx_node.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  std::vector<int> axes;
  if (call.has(1)) {
    axes = ops::need_axes(call, 1, call.rank(0));
  } else {
    for (int d = 0; d < call.rank(0); ++d)
      if (dims[static_cast<std::size_t>(d)] == Dim(1)) axes.push_back(d);
  }
  Dims kept;
  for (int d = 0; d < call.rank(0); ++d) {
    const Dim extent = dims[static_cast<std::size_t>(d)];
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      kept.push_back(extent);
    } else {
      call.need(!extent.is_constant() || extent == Dim(1), "dim ", d, " has extent ", extent.text(), ", only 1 can be squeezed");
    }
  }
  call.out(0, call.dtype(0), std::move(kept));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

std::vector<Value*> from_1(OnnxImport& import) {
  std::vector<Value*> operands{import.need(0)};
  if (import.attributes.has("axes")) operands.push_back(import.ints(import.attributes.ints("axes")));
  return import.add("Squeeze", operands, {});
}

}  // namespace

OpDef op_squeeze() {
  return {.name = "Squeeze", .max_inputs = 2, .infer = infer, .reference = ops::copy_whole, .movement = true,
          .from_onnx = {{"Squeeze", 13}, {"Squeeze", 1, from_1}},
          .cases = {"f32[1,3,1,5]", "f32[1,3,1,5] i64[1]{0}", "f32[1,3,1,5] i64[2]{-2,0}", "u4[1,3] i64[1]{0}", "f32[1] i64[1]{0}"}};
}

}  // namespace tenfold::ir
