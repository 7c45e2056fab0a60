// SequenceMap: a graph over each element of a sequence. Where the elements are known when the model is read, it is added for each of them;
// else a Loop goes over the places.
//
// Operands: a sequence, then sequences of the same length, or tensors that each element meets. Results: sequences.
#include "onnx_ops/ai_onnx/control_common.h"
#include "onnx_ops/ai_onnx/sequence_common.h"
#include "ops/control/carried_common.h"

namespace tenfold::onnx_ops {
namespace {

bool is_sequence(const Value* value) { return value->type.kind == ValueType::Kind::sequence; }

// Nothing where the elements of a sequence are not known, or where there are none, whose results would have no type.
std::optional<std::vector<Value*>> unrolled(OnnxImport& call) {
  std::vector<std::vector<Value*>> arguments;   // by element
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const auto known = is_sequence(call.inputs[i]) ? elements(call, static_cast<int>(i)) : std::nullopt;
    if (is_sequence(call.inputs[i]) && (!known || known->empty())) return std::nullopt;
    if (i == 0) arguments.resize(known->size());
    check_shape(!known || known->size() == arguments.size(), "sequence 0 has ", arguments.size(), " elements, sequence ", i, " has ",
                known ? known->size() : 0);
    for (std::size_t e = 0; e < arguments.size(); ++e) arguments[e].push_back(known ? (*known)[e] : call.inputs[i]);
  }
  std::vector<std::vector<Value*>> results(static_cast<std::size_t>(call.outputs()));
  for (const std::vector<Value*>& given : arguments) {
    const std::vector<Value*> made = call.add_body("body", given);
    validate(made.size() >= results.size(), "the body has ", made.size(), " results, ", results.size(), " expected");
    for (std::size_t r = 0; r < results.size(); ++r) results[r].push_back(made[r]);
  }
  std::vector<Value*> sequences;
  for (std::vector<Value*>& list : results) sequences.push_back(call.add("Sequence", std::move(list), {})[0]);
  return sequences;
}

// The body of the Loop, around the one of the model: it takes elements out of sequences, and appends the results to `so_far`.
void make_loop_body(Graph& body, const std::vector<Value*>& given, const std::vector<Value*>& so_far) {
  const std::vector<Value*> formal = body.inputs;   // elements and tensors, then captures
  Node* const first = body.nodes().empty() ? nullptr : body.nodes().front().get();
  std::vector<Value*> inputs{body.add_input("place", ops::kIteration), body.add_input("go_on", ops::kCondition)};
  std::vector<Value*> outputs{inputs[1]};
  for (const Value* list : so_far) inputs.push_back(body.add_input(body.unique_name("results"), list->type));
  for (std::size_t i = 0; i < given.size(); ++i) {
    Value* const whole = body.add_input(body.unique_name("operand"), given[i]->type);
    inputs.push_back(whole);
    body.replace_uses(formal[i], is_sequence(given[i]) ? body.make("SequenceAt", {whole, inputs[0]}, {}, first) : whole);
  }
  for (std::size_t r = 0; r < so_far.size(); ++r) outputs.push_back(body.make("SequenceInsert", {inputs[2 + r], body.outputs[r]}));
  inputs.insert(inputs.end(), formal.begin() + static_cast<std::ptrdiff_t>(given.size()), formal.end());
  body.inputs = std::move(inputs), body.outputs = std::move(outputs);
}

std::vector<Value*> looped(OnnxImport& call) {
  std::vector<ValueType> formal;
  for (const Value* value : call.inputs) formal.push_back(is_sequence(value) ? value->type.element() : value->type);
  Bodies bodies = import_bodies(call, {"body"}, {formal});
  Graph& body = *bodies.graphs[0];
  const auto results = static_cast<std::size_t>(call.outputs());
  validate(body.outputs.size() >= results, "the body has ", body.outputs.size(), " results, ", results, " expected");
  std::vector<Value*> empty;
  for (std::size_t r = 0; r < results; ++r) {
    supported(body.outputs[r]->type.is_tensor(), "result ", r, " of the body is ", text(body.outputs[r]->type), ", tensors are supported");
    empty.push_back(call.add("Sequence", {}, {{"dtype", std::string(name(body.outputs[r]->type.tensor.dtype))}})[0]);
  }
  make_loop_body(body, call.inputs, empty);
  std::vector<Value*> own{call.add("SequenceLength", {call.inputs[0]}, {})[0], nullptr};
  own.insert(own.end(), empty.begin(), empty.end());
  own.insert(own.end(), call.inputs.begin(), call.inputs.end());
  return add_control(call, std::move(bodies), std::move(own), {{"carried", static_cast<std::int64_t>(results)}}, "Loop");
}

std::vector<Value*> from_17(OnnxImport& call) {
  validate(call.has_graph("body"), "attribute body is missing");
  for (std::size_t i = 0; i < call.inputs.size(); ++i) call.given(static_cast<int>(i));
  validate(is_sequence(call.given(0)), "input 0 is ", text(call.in(0)->type), ", a sequence expected");
  if (auto results = unrolled(call)) return *results;
  return looped(call);
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_map() { return {.name = "SequenceMap", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
