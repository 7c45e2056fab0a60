// Which of the graph's casts does what ONNX's one does.
#include "onnx_ops/ai_onnx/cast_common.h"

namespace tenfold::onnx_ops {

std::vector<Value*> add_cast(OnnxImport& node, DType to) {
  const bool is_small = to == DType::f8e4m3fn || to == DType::f8e4m3fnuz || to == DType::f8e5m2 || to == DType::f8e5m2fnuz;
  const std::int64_t saturate = node.attributes.integer("saturate", 1);
  const std::string target(name(to));
  if (to == DType::string || node.given(0)->dtype() == DType::string) return node.add("StringCast", {node.given(0)}, {{"to", target}});
  if (to == DType::f8e8m0 || (is_small && saturate == 0)) {
    return node.add("CastF8", {node.given(0)},
                    {{"to", target}, {"saturate", saturate}, {"round_mode", node.attributes.string("round_mode", "up")}});
  }
  return node.add("Cast", {node.given(0)}, {{"to", target}});
}

}  // namespace tenfold::onnx_ops
