// Changes of a model file. All that they do not name stays as its bytes are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::onnx_export {

// Of ai.onnx.
struct NewNode {
  std::string op, name;
  std::vector<std::string> inputs, outputs;
  std::optional<std::int64_t> axis = {};   // its attribute of that name
};

// Nodes are told by their place in the list of the model's own graph, as the file has it.
struct Edits {
  std::map<std::size_t, std::vector<NewNode>> before;                      // nodes that come to stand in front of this one
  // Of a node: what its operands are called now. They may go on behind its last one.
  std::map<std::size_t, std::map<std::size_t, std::string>> inputs;
  std::vector<std::pair<std::string, Tensor>> initializers;                // new ones
  std::set<std::string, std::less<>> left_out;                             // initializers, and inputs and value_infos of these names
  std::set<std::size_t> left_out_nodes;
  int opset = 0;   // the least version of ai.onnx that the model and its functions import from now on
};

}  // namespace tenfold::onnx_export
