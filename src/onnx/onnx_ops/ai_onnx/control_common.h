// What If, Loop and Scan share: bodies that are closed over what they capture.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The closed bodies of an ONNX node and what they capture.
struct Bodies {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<Value*> captures;
};
Bodies import_bodies(OnnxImport& call, const std::vector<std::string>& attributes,
                     const std::vector<std::vector<ValueType>>& formal);
// Adds the node that owns them: its operands are `own`, then the captures. `op`: of the graph; "": the one of the same name.
std::vector<Value*> add_control(OnnxImport& call, Bodies bodies, std::vector<Value*> own, Attributes attributes, std::string_view op = "");

}  // namespace tenfold::onnx_ops
