// Loop: a closed body repeated while its condition holds, at most `trip count` times.
//
// Operands: trip count or null, condition or null, `carried` values, captures. Body inputs: iteration i64[], condition bool[],
// carried values, captures. Body outputs: condition, carried values, then one element of each scan output.
#include <algorithm>

#include "ops/control/carried_common.h"
#include "ops/control/control_common.h"

namespace tenfold::ir {
namespace {

// Types of the carried values that hold in every iteration. Leaves the body inferred with them.
std::vector<ValueType> infer_carried_types(InferCall& call, Graph& body, std::size_t carried) {
  const Node& node = call.node();
  const Graph original = body.clone();  // inference may write extents into attributes; each try starts anew
  std::vector<ValueType> entering;
  for (std::size_t i = 0; i < carried; ++i) entering.push_back(call.type(static_cast<int>(2 + i)));
  bool again = false;
  return ops::types_that_hold(call.graph(), node.name, std::move(entering), [&](const std::vector<ValueType>& types) {
    if (again) body = original.clone();
    again = true;
    std::vector<ops::Formal> formal{{ops::kIteration}, {ops::kCondition}};
    for (const ValueType& type : types) formal.push_back({type});
    const std::vector<ops::Formal> captures = ops::captured(node, 2 + carried);
    formal.insert(formal.end(), captures.begin(), captures.end());
    ops::infer_body(call.graph(), body, formal);
    return ops::types_of(body.outputs, 1, carried);
  });
}

bool always_true(const Value* value) {
  return value->is_constant() && value->constant->tensor.size() == 1 && value->constant->tensor.as_int(0) != 0;
}

// The number of iterations: the trip count itself if nothing can end the loop early.
Dim trips(InferCall& call, const Graph& body) {
  const Dims* limit = call.contents(0);
  const bool limited = limit != nullptr && limit->size() == 1;
  const Value* last = body.outputs[0];
  while (last->producer != nullptr && last->producer->op() == "Identity") last = last->producer->in(0);
  const bool goes_on = always_true(last) || last == body.inputs[1];
  const bool starts = !call.has(1) || always_true(call.node().in(1));
  if (limited && goes_on && starts) return max((*limit)[0], 0);
  return call.new_symbol("trips", 0, limited ? max((*limit)[0], 0) : Dim(kUnbounded));
}

// Symbols of what changes from one iteration to the next: inside of the body those of one iteration, behind the loop those of its end.
std::set<std::string> changing(const Node& node, const std::vector<ValueType>& types) {
  std::set<std::string> symbols;
  for (std::size_t c = 0; c < types.size(); ++c) {
    const Dims& entering = node.inputs[2 + c]->dims();
    for (std::size_t d = 0; d < types[c].tensor.dims.size(); ++d)
      if (d >= entering.size() || types[c].tensor.dims[d] != entering[d])
        for (const std::string& symbol : types[c].tensor.dims[d].symbols()) symbols.insert(symbol);
  }
  return symbols;
}

void infer(InferCall& call) {
  const Node& node = call.node();
  call.validate(node.graphs.size() == 1, "Loop has ", node.graphs.size(), " bodies, expected one");
  Graph& body = *node.graphs[0];
  const std::int64_t count = call.attributes().integer("carried");
  call.validate(count >= 0 && count + 2 <= call.inputs() && count <= call.outputs(), "Loop carries ", count, " values, but has ",
             call.inputs(), " operands and ", call.outputs(), " results");
  const auto carried = static_cast<std::size_t>(count);
  call.validate(static_cast<int>(body.outputs.size()) == call.outputs() + 1, "the body has ", body.outputs.size(), " results, expected ",
             call.outputs() + 1);
  const std::vector<ValueType> types = infer_carried_types(call, body, carried);
  const Dim iterations = trips(call, body);
  for (std::size_t i = 0; i < carried; ++i) call.out(static_cast<int>(i), types[i]);
  const std::set<std::string> inner = changing(node, types);
  for (std::size_t i = carried; i + 1 < body.outputs.size(); ++i) {
    ValueType type = ops::lift(call, body, body.outputs[1 + i]->type, cat("scan", i), inner);
    call.validate(type.kind == ValueType::Kind::tensor, "scan output ", i, " is ", text(type), ", expected a tensor");
    type.tensor.dims.insert(type.tensor.dims.begin(), iterations);
    call.out(static_cast<int>(i), type);
  }
}

}  // namespace

OpDef op_loop() {
  return {.name = "Loop",
          .min_inputs = 2,
          .max_inputs = -1,
          .min_outputs = 0,
          .max_outputs = -1,
          .types = "int?, bool?, *... -> *...",
          .optional_attributes = "carried: int",
          .infer = infer,
          .traits = {.control = Control::loop}};
}

}  // namespace tenfold::ir
