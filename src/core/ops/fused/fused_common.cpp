// Running the decomposition of a fused operator as its reference kernel.
#include "ops/fused/fused_common.h"

#include "base/types/element.h"
#include "ops/interpret.h"

namespace tenfold::ir {
namespace {

// The elements as f64. What is f64 already, or must not be, as it is, in the caller's memory.
Tensor operand(const TensorRef& from, bool widens) {
  const std::shared_ptr<const void> borrowed(from.data, [](const void*) {});
  if (!widens || from.dtype == DType::f64) return Tensor(from.dtype, from.shape, borrowed, static_cast<const std::byte*>(from.data));
  Tensor wide(DType::f64, from.shape);
  auto* to = wide.mutable_data<double>();
  for (std::int64_t i = 0; i < from.size(); ++i) to[i] = load_double(from.dtype, from.data, i);
  return wide;
}

void store(const Tensor& result, const TensorRef& to) {
  check(result.shape() == to.shape, "an decomposition gives ", text(result.shape()), ", the operator ", text(to.shape));
  for (std::int64_t i = 0; i < to.size(); ++i) {
    if (is_float(to.dtype)) store_double(to.dtype, to.data, i, result.as_double(i));
    else store_int(to.dtype, to.data, i, result.as_int(i));
  }
}

void run(Call& call, Between between) {
  Graph graph(Registry::builtin());
  Node node;
  node.def = call.node->def, node.name = call.node->name, node.attributes = call.node->attributes;
  if (between == Between::as_stored) node.numerics = call.node->numerics;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const bool widens = between == Between::wide && is_float(call.in[i].dtype) &&
                        node.def->types.operand(static_cast<int>(i))->types.has(DType::f64);
    node.inputs.push_back(call.in[i].data ? graph.add_constant(operand(call.in[i], widens)) : nullptr);
  }
  Node* whole = graph.add(std::move(node), static_cast<int>(call.out.size()));
  graph.outputs = whole->def->decompose(graph, *whole);
  graph.erase(*whole);
  const std::vector<ops::RuntimeValue> results = ops::run_graph(graph, {});
  for (std::size_t i = 0; i < call.out.size(); ++i) store(std::get<Tensor>(results[i]), call.out[i]);
}

void run_as_stored(Call& call) { run(call, Between::as_stored); }
void run_wide(Call& call) { run(call, Between::wide); }

Tensor filled(DType type, const Shape& shape, double value) {
  Tensor t(type, shape);
  for (std::int64_t i = 0; i < t.size(); ++i) store_double(type, t.mutable_raw(), i, value);
  return t;
}

}  // namespace

OpDef fused(OpDef def, Between between) {
  def.reference = between == Between::wide ? run_wide : run_as_stored;
  return def;
}

Node Decomposition::part(std::string_view op, std::vector<Value*> operands, Attributes attributes, std::string_view suffix) const {
  Node part;
  part.def = &graph_.registry().get(op), part.name = cat(fused_.name, suffix);
  part.inputs = std::move(operands), part.attributes = std::move(attributes);
  if (part.def->traits.permission.rounding) part.numerics = fused_.numerics;
  return part;
}

Value* Decomposition::cast(Value* v, DType to) { return v->dtype() == to ? v : (*this)("Cast", {v}, {{"to", std::string(name(to))}}); }
Value* Decomposition::number(DType type, double value) { return graph_.add_constant(filled(type, {}, value)); }
Value* Decomposition::indices(const Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return graph_.add_constant(std::move(t));
}

void add_after(Node& part, const std::vector<Value*>& addends) {
  std::vector<DType> types{part.in(0)->dtype()};
  const int own = static_cast<int>(part.inputs.size());
  for (Value* v : addends)
    if (v) part.inputs.push_back(v), types.push_back(v->dtype());
  if (types.size() == 1) return;
  BodyBuilder b(types);
  std::uint16_t sum = 0;
  for (std::uint16_t i = 1; i < types.size(); ++i) sum = b.binary(Prim::add, sum, types[i] == types[0] ? i : b.cast(i, types[0]));
  part.body = b.finish({sum});
  part.anchor_inputs = own;
}

}  // namespace tenfold::ir
