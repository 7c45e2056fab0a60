// Loop: the body is imported with types that hold for every iteration, for conversions may look at extents.
#include <algorithm>

#include "onnx_ops/ai_onnx/control_common.h"
#include "ops/control/carried_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  std::vector<Value*> own = call.inputs;
  own.resize(std::max<std::size_t>(own.size(), 2), nullptr);
  const std::size_t carried = own.size() - 2;
  std::vector<ValueType> entering;
  for (std::size_t i = 0; i < carried; ++i) entering.push_back(call.given(static_cast<int>(2 + i))->type);
  Bodies bodies;
  ops::types_that_hold(call.graph(), call.name(), std::move(entering), [&](const std::vector<ValueType>& types) {
    std::vector<ValueType> formal{ops::kIteration, ops::kCondition};
    formal.insert(formal.end(), types.begin(), types.end());
    bodies = import_bodies(call, {"body"}, {formal});
    const std::vector<Value*>& results = bodies.graphs[0]->outputs;
    validate(results.size() > carried, "the body has ", results.size(), " results, but beside the condition ", carried,
             " values are carried");
    return ops::types_of(results, 1, carried);
  });
  return add_control(call, std::move(bodies), own, {{"carried", static_cast<std::int64_t>(carried)}});
}

}  // namespace

OnnxOp onnx_ai_onnx_loop() { return {.name = "Loop", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
