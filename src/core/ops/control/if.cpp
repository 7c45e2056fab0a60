// If: one of two closed bodies, chosen by a condition. Operands: condition, captures; bodies: then, else.
#include "ir/fault.h"
#include "ops/control/control_common.h"

namespace tenfold::ir {
namespace {

// A branch that contradicts the shapes, as models do that test them first, is no fault of the model unless it is taken. One that no
// shapes would mend is.
void infer_branches(InferCall& call) {
  const Node& node = call.node();
  std::string why;
  for (const auto& body : node.graphs) {
    try {
      ops::infer_body(call.graph(), *body, ops::captured(node, 1));
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::invalid_model || !why.empty()) throw;
      why = e.what();
      ops::make_failing(*body, static_cast<std::size_t>(call.outputs()),
                        cat("this branch of '", node.name, "' cannot run with the shapes that the model was built for: ", why));
    }
  }
  for (const std::size_t b : {0, 1})
    if (ops::failing(*node.graphs[b]) && !ops::failing(*node.graphs[1 - b])) ops::fill_failing(call, *node.graphs[b], *node.graphs[1 - b]);
}

void infer(InferCall& call) {
  const Node& node = call.node();
  call.validate(node.graphs.size() == 2, "If has ", node.graphs.size(), " bodies, expected two");
  infer_branches(call);
  for (const auto& body : node.graphs) {
    call.validate(static_cast<int>(body->outputs.size()) == call.outputs(), "a branch has ", body->outputs.size(), " results, If has ",
               call.outputs());
  }
  for (int i = 0; i < call.outputs(); ++i) {
    const Value &a = *node.graphs[0]->outputs[static_cast<std::size_t>(i)], &b = *node.graphs[1]->outputs[static_cast<std::size_t>(i)];
    const ValueType then_type = ops::lift(call, *node.graphs[0], a.type, cat("then", i));
    const ValueType else_type = ops::lift(call, *node.graphs[1], b.type, cat("else", i));
    call.out(i, ops::join(call, then_type, else_type, cat("result", i)));
    if (a.contents && a.contents == b.contents && is_constant(*a.contents)) call.out_contents(i, *a.contents);
  }
}

}  // namespace

OpDef op_if() {
  return {.name = "If",
          .min_inputs = 1,
          .max_inputs = -1,
          .max_outputs = -1,
          .types = "bool, *... -> *...",
          .infer = infer,
          .traits = {.control = Control::branch}};
}

}  // namespace tenfold::ir
