// Derives shape inference and the reference kernel of a pointwise operator from its Body.
#include "ops/pointwise_common.h"

#include "ir/fault.h"
#include "ops/body_contents.h"
#include "ops/body_interpret.h"
#include "ops/walk.h"

namespace tenfold::ir {
namespace {

std::vector<int> present_operands(const InferCall& call) {
  std::vector<int> present;
  for (int i = 0; i < call.inputs(); ++i) {
    if (call.has(i)) present.push_back(i);
  }
  return present;
}

bool trailing_ones(const Dims& dims, int rank) {
  for (int i = 0; i < rank && i < static_cast<int>(dims.size()); ++i) {
    if (dims[dims.size() - 1 - static_cast<std::size_t>(i)] != Dim(1)) return false;
  }
  return true;
}

// Output elements as Dims, when the elements of all operands are known.
void infer_contents(InferCall& call, const Body& body, const std::vector<int>& operands, const Dims& dims) {
  if (body.reduced_rank > 0 || !is_constant(dims)) return;
  const Shape shape = constants(dims);
  const std::int64_t count = element_count(shape);
  if (count > kMaxContents) return;
  std::vector<const Dims*> contents;
  std::vector<ops::Walk> walks;
  for (const int i : operands) {
    contents.push_back(call.contents(i));
    if (!contents.back() || !is_constant(call.dims(i))) return;
    walks.push_back(ops::Walk::broadcast(shape, constants(call.dims(i))));
  }
  const SymbolBounds box = call.graph().box();
  std::vector<std::optional<Dims>> results(body.outputs.size(), Dims{});
  for (std::int64_t e = 0; e < count; ++e) {
    Dims element;
    for (std::size_t i = 0; i < walks.size(); ++i) {
      element.push_back(contents[i]->at(static_cast<std::size_t>(walks[i].offset())));
      walks[i].next();
    }
    const auto outputs = ops::body_contents(body, element, box);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o]) results[o].reset();
      else if (results[o]) results[o]->push_back(*outputs[o]);
    }
  }
  for (int o = 0; o < call.outputs(); ++o) {
    const auto at = static_cast<std::size_t>(o);
    if (results[at] && !is_float(body.type_of(body.outputs[at]))) call.out_contents(o, std::move(*results[at]));
  }
}

bool accepts(Operands accepted, DType type) {
  switch (accepted) {
    case Operands::any: return type != DType::string;
    case Operands::numbers: return is_float(type) || is_integer(type);
    case Operands::floats: return is_float(type);
    case Operands::integers: return is_integer(type);
    case Operands::unsigned_integers: return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
    case Operands::booleans: return type == DType::boolean;
  }
  return false;
}

const char* text(Operands accepted) {
  switch (accepted) {
    case Operands::any: return "numbers or booleans";
    case Operands::numbers: return "numbers";
    case Operands::floats: return "floats";
    case Operands::integers: return "integers";
    case Operands::unsigned_integers: return "unsigned integers";
    case Operands::booleans: return "booleans";
  }
  return "";
}

}  // namespace

void infer_pointwise(InferCall& call) {
  const OpDef& def = *call.node().def;
  const int needed = def.max_inputs < 0 ? call.inputs() : def.min_inputs;   // none of any number of operands may be left out
  for (int i = 0; i < needed; ++i) call.validate(call.has(i), "operand ", i, " of ", call.node().op(), " is missing");
  const std::vector<int> operands = present_operands(call);
  Dims space;
  for (const int i : operands) space = broadcast(space, call.dims(i));
  const Body body = def.scalar(call.node());
  call.validate(body.inputs.size() == operands.size(), "the body has ", body.inputs.size(), " inputs, the node ", operands.size());
  call.validate(call.outputs() <= static_cast<int>(body.outputs.size()), "the body has ", body.outputs.size(), " outputs, the node ",
             call.outputs());
  call.check_shape(body.reduced_rank <= static_cast<int>(space.size()), "the body reduces ", body.reduced_rank, " dims, operands have ",
            space.size());
  std::vector<bool> narrow_inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType type = call.dtype(operands[i]);
    call.validate(type == body.inputs[i], "operand ", operands[i], " is ", name(type), ", the body takes ", name(body.inputs[i]));
    narrow_inputs.push_back(body.reduced_rank > 0 && trailing_ones(call.dims(operands[i]), body.reduced_rank));
  }
  const std::vector<bool> narrow = ops::narrow_values(body, narrow_inputs);
  for (int o = 0; o < call.outputs(); ++o) {
    const std::uint16_t value = body.outputs[static_cast<std::size_t>(o)];
    Dims dims = space;
    if (narrow[value]) std::fill(dims.end() - body.reduced_rank, dims.end(), Dim(1));
    call.out(o, body.type_of(value), std::move(dims));
  }
  infer_contents(call, body, operands, space);
}

// The body is asked for again with the types of the tensors at hand: a node in a plan has no values to look at.
void reference_pointwise(Call& call) {
  std::vector<TensorRef> present;
  std::deque<Value> values;
  Node node;
  node.def = call.node->def;
  node.attributes = call.node->attributes;
  node.body = call.node->body;
  for (int i = 0; i < static_cast<int>(call.in.size()); ++i) {
    if (!call.has(i)) { node.inputs.push_back(nullptr); continue; }
    present.push_back(call.in[static_cast<std::size_t>(i)]);
    node.inputs.push_back(&values.emplace_back());
    values.back().type.tensor = {present.back().dtype, to_dims(present.back().shape)};
  }
  for (std::size_t i = 0; i < call.out.size(); ++i) node.outputs.push_back(&values.emplace_back());
  ops::interpret_body(node.def->scalar(node), present, call.out);
}

OpDef pointwise(OpDef def) {
  def.infer = infer_pointwise;
  def.reference = reference_pointwise;
  return def;
}

DType operand_type(const Node& node, Operands accepted, int first) {
  std::optional<DType> type;
  for (std::size_t i = static_cast<std::size_t>(first); i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    const DType found = node.inputs[i]->dtype();
    supported(found != DType::string, "operand ", i, " holds strings; only numbers and booleans are computed");
    validate(accepts(accepted, found), "operand ", i, " is ", name(found), ", but must hold ", text(accepted));
    validate(!type || *type == found, "operand ", i, " is ", name(found), ", the operands before it are ", name(type.value_or(found)));
    type = found;
  }
  validate(type.has_value(), "no operand is given");
  return *type;
}

BodyBuilder body_builder(const Node& node) {
  std::vector<DType> types;
  for (const Value* value : node.inputs) {
    if (value) types.push_back(value->dtype());
  }
  return BodyBuilder(std::move(types));
}

}  // namespace tenfold::ir
