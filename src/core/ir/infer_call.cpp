// InferCall: checked access to the operand types of the node whose result types are being inferred.
#include "base/check.h"
#include "ir/fault.h"
#include "ir/op_def.h"
#include "ir/recipe.h"

namespace tenfold::ir {
namespace {
constexpr std::string_view kDecidesTypes = "used to infer shapes";
}  // namespace

const ValueType& InferCall::type(int i) const {
  const Value* v = node_.in(i);
  validate(v != nullptr, "operand ", i, " of ", node_.op(), " is missing");
  return v->type;
}
const TensorType& InferCall::in(int i) const {
  const ValueType& t = type(i);
  if (t.kind != ValueType::Kind::tensor) validate(false, "operand ", i, " of ", node_.op(), " is ", text(t), ", a tensor expected");
  supported(t.ranked, "operand ", i, " ('", node_.in(i)->name, "') of ", node_.op(), " has an unknown number of dimensions");
  return t.tensor;
}
const Tensor* InferCall::constant(int i) const {
  const Value* v = node_.in(i);
  if (!v || !v->is_constant()) return nullptr;
  ir::fix(*v->constant, kDecidesTypes);
  return &v->constant->tensor;
}
const Dims* InferCall::contents(int i) const {
  const Value* v = node_.in(i);
  if (v && v->is_constant() && v->contents) ir::fix(*v->constant, kDecidesTypes);
  return v && v->contents ? &*v->contents : nullptr;
}
Dims InferCall::need_contents(int i, const char* what) const {
  type(i);
  const Dims* known = contents(i);
  supported(known != nullptr, what, " (operand ", i, ", '", node_.in(i)->name, "' of ", node_.op(),
            ") depends on data, so the number of dimensions or their extents cannot be known when building");
  return *known;
}
void InferCall::out(int i, DType dtype, Dims dims) { out(i, ValueType{.tensor = {dtype, std::move(dims)}}); }
void InferCall::out(int i, ValueType type) {
  if (Value* v = node_.out(i)) v->type = std::move(type);
}
void InferCall::out_contents(int i, Dims values) {
  Value* v = node_.out(i);
  if (v && static_cast<std::int64_t>(values.size()) <= kMaxContents) v->contents = std::move(values);
}
Dim InferCall::new_symbol(std::string_view stem, Dim lower, Dim upper, Origin origin) {
  return graph_.new_symbol(node_.name + "_" + std::string(stem), lower, upper, origin);
}
int InferCall::axis(std::int64_t value, int rank) const {
  check_shape(value >= -rank && value < rank, "axis ", value, " is out of range for ", rank, " dimensions");
  return static_cast<int>(value < 0 ? value + rank : value);
}

}  // namespace tenfold::ir
