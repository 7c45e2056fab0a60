// The power of a norm as an integer.
#include "onnx_ops/ai_onnx/lp_pool_common.h"

namespace tenfold::onnx_ops {

std::vector<Value*> with_whole_p(OnnxImport& call) {
  const float p = call.attributes.number("p", 2.0f);
  supported(p >= 1 && p < 1 << 20 && p == static_cast<float>(static_cast<std::int64_t>(p)), "p is ", p,
            ", a whole number from 1 on is supported");
  Attributes attributes = call.attributes;
  attributes.set("p", static_cast<std::int64_t>(p));
  return call.add(call.op(), {call.given(0)}, std::move(attributes));
}

}  // namespace tenfold::onnx_ops
