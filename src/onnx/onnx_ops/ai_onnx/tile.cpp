// Tile: before opset 6 along one axis, which an operand names.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// Operands: data, how often, the axis.
std::vector<Value*> from_1(OnnxImport& call) {
  const int rank = known_rank(call, 0);
  const Tensor& named = call.constant(2, "the axis of Tile");
  check_shape(named.size() == 1, "the axis has ", named.size(), " elements, one expected");
  const double place = load_double(named.dtype(), named.raw(), 0);
  check_shape(place >= 0 && place < rank, "axis ", place, " of a tensor of rank ", rank);
  const auto axis = static_cast<std::int64_t>(place);
  Value* times = reshaped(call, one(call, "Cast", {call.given(1)}, {{"to", "i64"}}), {1});
  std::vector<Value*> repeats;
  if (axis > 0) repeats.push_back(call.ints(Ints(static_cast<std::size_t>(axis), 1)));
  repeats.push_back(times);
  if (axis + 1 < rank) repeats.push_back(call.ints(Ints(static_cast<std::size_t>(rank - axis - 1), 1)));
  return {one(call, "Tile", {call.in(0), one(call, "Concat", repeats, {{"axis", 0}})})};
}

}  // namespace

OnnxOp onnx_ai_onnx_tile() { return {.name = "Tile", .forms = {{6}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
