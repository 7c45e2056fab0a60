// BiasSoftmax: Softmax of data plus a bias (operand 1), over all dims from `axis` on. The bias lacks dims, or has 1 in place of them: the
// inner ones before `axis` (is_inner_broadcast), or the outermost.
#include "onnx_ops/ai_onnx/flattened_common.h"
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

bool differ(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && a != b; }

// What the attributes say of the bias has to be so: by sizes alone, as ONNX Runtime pairs rows, another bias would meet other rows.
void expect_bias(const Dims& data, const Dims& bias, std::size_t axis, bool inner) {
  check_shape(bias.size() <= data.size(), "the bias has rank ", bias.size(), ", the data ", data.size());
  const std::size_t lacks = data.size() - bias.size();
  bool repeated = false, own = false;   // dims so far, from the front
  for (std::size_t d = 0; d < data.size(); ++d) {
    const Dim given = d < lacks ? Dim(1) : bias[d - lacks];
    const bool repeats = given == Dim(1);
    check_shape(!differ(given, data[d]) || (repeats && d < axis), "the bias has extent ", given.text(), " in dim ", d,
                " of the data, which has ", data[d].text());
    if (d >= axis || data[d] == Dim(1)) continue;
    check_shape(repeats ? inner || !own : !inner || !repeated, "a bias of shape [", text(bias), "] does not repeat along the ",
                inner ? "inner" : "outer", " dims of [", text(data), "], as is_inner_broadcast=", inner ? 1 : 0, " says");
    (repeats ? repeated : own) = true;
  }
}

std::vector<Value*> from_1(OnnxImport& call) {
  const std::int64_t rank = known_rank(call, 0), given = call.attributes.integer("axis", 1), axis = given < 0 ? given + rank : given;
  const std::int64_t inner = call.attributes.integer("is_inner_broadcast");
  known_rank(call, 1);
  check_shape(axis >= 0 && axis < rank, "axis ", given, " is out of range for ", rank, " dimensions");
  const Dims data = call.in(0)->dims();
  expect_bias(data, call.in(1)->dims(), static_cast<std::size_t>(axis), inner != 0);
  Value* sum = one(call, "Add", {call.in(0), call.in(1)});
  return {along_rows(call, "Softmax", sum, axis)};
}

}  // namespace

OnnxOp onnx_microsoft_bias_softmax() { return {.name = "BiasSoftmax", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
