// For tests: one node with an epilogue of the test's choice, and the tactics that take it.
#pragma once

#include "backends/tactic_for_tests.h"
#include "base/check.h"

namespace tenfold::backends {

std::vector<Tactic> cuda_tactics();

namespace testing {

// The operator's case as ops/cases.h has it, a body as ir::parse_body reads it (none: ""), and operands of the body.
struct OneNode {
  ir::Graph graph{ir::Registry::builtin()};
  std::vector<Tensor> operands;

  OneNode(const std::string& op, const std::string& text, const std::string& body, const std::vector<std::string>& extra) {
    const ir::OpDef &def = ir::Registry::builtin().get(op), &any = ir::Registry::builtin().get("Identity");
    const ops::Case parsed = ops::parse_case(def, text);
    ir::Node node;
    node.def = &def, node.attributes = parsed.attributes, node.numerics = parsed.numerics;
    if (!body.empty()) node.body = ir::parse_body(body);
    for (const ops::CaseOperand& o : parsed.operands) node.inputs.push_back(add(o));
    node.anchor_inputs = static_cast<int>(node.inputs.size());
    for (const std::string& one : extra) node.inputs.push_back(add(ops::parse_case(any, one).operands[0]));
    graph.outputs = {graph.add(std::move(node), 1)->out()};
  }
  Tensor reference() const {
    const std::vector<ops::RuntimeValue> values(operands.begin(), operands.end());
    return std::get<Tensor>(ops::run_node(*graph.nodes().front(), values)[0]);
  }

 private:
  ir::Value* add(const ops::CaseOperand& o) {
    operands.push_back(o.data);
    const std::string name = cat("x", operands.size());
    if (o.constant) return graph.add_constant(o.data, name);
    return graph.add_input(name, {.tensor = {o.data.dtype(), ir::to_dims(o.data.shape())}});
  }
};

// The operator's own tactics that take it, in their layouts.
template <class Visit>
void each_tactic(const OneNode& one, const DeviceInfo& device, Visit visit) {
  for (const Tactic& tactic : cuda_tactics()) {
    if (!tactic.computes(*one.graph.nodes().front()->def) || tactic.source != Source::native) continue;
    TacticRun run(tactic, one.graph, 0);
    run.problem.device = &device;
    if (tactic.formats) run.use(tactic.formats(run.problem).front());
    if (tactic.supports(run.problem)) visit(tactic, run);
  }
}

inline DeviceInfo compile_only(int arch) {
  DeviceInfo device;
  device.kind = "cuda", device.arch = arch, device.ordinal = -arch;   // see device_of()
  return device;
}

}  // namespace testing
}  // namespace tenfold::backends
