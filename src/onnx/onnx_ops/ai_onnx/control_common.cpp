// The nodes of control flow, with their bodies.
#include "onnx_ops/ai_onnx/control_common.h"

namespace tenfold::onnx_ops {

Bodies import_bodies(OnnxImport& call, const std::vector<std::string>& attributes, const std::vector<std::vector<ValueType>>& formal) {
  for (const std::string& name : attributes) validate(call.has_graph(name), "attribute ", name, " is missing");
  Bodies bodies;
  bodies.graphs = call.closed_bodies(attributes, formal, bodies.captures);
  return bodies;
}

std::vector<Value*> add_control(OnnxImport& call, Bodies bodies, std::vector<Value*> own, Attributes attributes, std::string_view op) {
  Node node;
  node.def = &call.graph().registry().get(op.empty() ? call.op() : op);
  node.name = call.name();
  node.inputs = std::move(own);
  node.inputs.insert(node.inputs.end(), bodies.captures.begin(), bodies.captures.end());
  node.attributes = std::move(attributes);
  node.graphs = std::move(bodies.graphs);
  return call.graph().add(std::move(node), call.outputs())->outputs;
}

}  // namespace tenfold::onnx_ops
