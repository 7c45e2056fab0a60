// Sequences are followed while nodes are read (onnx_ops/ai_onnx/sequence_common.h), so that most leave nothing to be computed behind.
#include <algorithm>

#include "onnx_import/importer.h"

namespace tenfold::onnx_import {

void drop_sequences(ir::Graph& graph) {
  std::vector<ir::Node*> nodes = graph.node_list();
  std::reverse(nodes.begin(), nodes.end());   // users before what they use
  for (ir::Node* node : nodes) {
    const ir::Value* value = node->out(0);
    if (value && node->outputs.size() == 1 && value->type.kind == ir::ValueType::Kind::sequence && value->users.empty() &&
        !graph.is_output(value))
      graph.erase(*node);
  }
}

}  // namespace tenfold::onnx_import
