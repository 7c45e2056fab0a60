// CausalConvWithState: a depthwise convolution along the last dim that sees the k - 1 positions before, which a state carries on.
//
// Operands: x [n, channels, length], weights [channels, 1, k], bias [channels], state [n, channels, k - 1]. Results: y, the next state.
#include "onnx_ops/ai_onnx/causal_conv_common.h"
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

constexpr std::int64_t kEnd = INT64_MAX;

}  // namespace

std::vector<Value*> causal_conv(OnnxImport& call) {
  const std::string activation = call.attributes.string("activation", "none");
  validate(activation == "none" || activation == "silu" || activation == "swish", "activation is '", activation,
           "', none, silu or swish expected");
  const int rank = known_rank(call, 0), filter_rank = known_rank(call, 1);
  check_shape(rank == 3 && filter_rank == 3, "data and weights have ranks ", rank, " and ", filter_rank, ", 3 expected of both");
  const Dim channels = call.in(1)->dims()[0], taps = call.in(1)->dims()[2];
  supported(channels.is_constant() && taps.is_constant(), "the weights have the shape [", text(call.in(1)->dims()),
            "], constant channels and taps are supported");
  check_shape(taps.constant() > 0, "the weights have no taps");
  const std::int64_t before = taps.constant() - 1;
  Value* x = call.in(0);
  if (before > 0 && call.in(3)) x = one(call, "Concat", {call.in(3), x}, {{"axis", 2}});
  else if (before > 0) x = one(call, "Pad", {x, call.ints({0, 0, before, 0, 0, 0})});
  Value* y = one(call, "Conv", {x, call.in(1), call.in(2)}, {{"group", channels.constant()}});
  if (activation != "none") y = one(call, "Swish", {y});
  const std::int64_t start = before > 0 ? -before : kEnd;   // of one tap: a state of no positions
  return {y, one(call, "Slice", {x, call.ints({start}), call.ints({kEnd}), call.ints({2})})};
}

OnnxOp onnx_ai_onnx_causal_conv_with_state() { return {.name = "CausalConvWithState", .forms = {{27, causal_conv}}}; }

}  // namespace tenfold::onnx_ops
