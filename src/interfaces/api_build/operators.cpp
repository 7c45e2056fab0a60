// The list of supported ONNX operators.
#include "onnx_ops/table.h"
#include "tenfold/build.h"

namespace tenfold {

std::vector<OperatorInfo> supported_operators() {
  std::vector<OperatorInfo> found;
  for (const onnx_ops::Known& op : onnx_ops::known(ir::Registry::builtin()))
    found.push_back({op.domain.empty() ? "ai.onnx" : op.domain, op.name, op.since, op.types, op.attributes});
  return found;
}

}  // namespace tenfold
