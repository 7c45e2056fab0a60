// Sequences are followed while nodes are read (ops/fused/sequence.cpp) and leave nothing behind.
#include <algorithm>

#include "onnx_import/importer.h"

namespace tenfold::onnx_import {

void drop_sequences(ir::Graph& graph) {
  std::vector<ir::Node*> nodes = graph.node_list();
  std::reverse(nodes.begin(), nodes.end());   // users before what they use
  for (ir::Node* node : nodes) {
    const ir::Value* value = node->out(0);
    if (!value || value->type.kind != ir::ValueType::Kind::sequence) continue;
    const bool used = !value->users.empty() || graph.is_output(value);
    require(!used || node->op() != "Sequence", ErrorKind::unsupported, "node '", node->name, "': its sequence '", value->name,
            "' is an output, or read where import cannot follow it: plans hold tensors only");
    if (!used) graph.erase(*node);
  }
}

}  // namespace tenfold::onnx_import
