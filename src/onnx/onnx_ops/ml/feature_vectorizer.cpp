// FeatureVectorizer: columns of all operands beside each other, as floats.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const Ints columns = call.attributes.ints("inputdimensions", {});
  validate(columns.empty() || columns.size() == call.inputs.size(), "inputdimensions has ", columns.size(), " entries for ",
           call.inputs.size(), " operands");
  std::vector<Value*> parts;
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    const int rank = known_rank(call, i);
    check_shape(rank == 1 || rank == 2, "operand ", i, " has rank ", rank, ", 1 or 2 expected");
    Value* x = one(call, "Cast", {call.in(i)}, {{"to", "f32"}});
    if (rank == 1) x = unsqueezed(call, x, {0});
    const Dim width = x->dims()[1];
    if (!columns.empty() && width.is_constant()) {
      const std::int64_t wanted = columns[static_cast<std::size_t>(i)];
      validate(wanted >= 0, "inputdimensions has ", wanted);
      supported(wanted <= width.constant(), "operand ", i, " has ", width.text(), " columns, inputdimensions asks for ", wanted);
      if (wanted < width.constant()) x = one(call, "Slice", {x, call.ints({0}), call.ints({wanted}), call.ints({1})});
    }
    parts.push_back(x);
  }
  validate(!parts.empty(), "FeatureVectorizer has no operand");
  return call.add("Concat", parts, {{"axis", 1}});
}

}  // namespace

OnnxOp onnx_ml_feature_vectorizer() { return {.name = "FeatureVectorizer", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
