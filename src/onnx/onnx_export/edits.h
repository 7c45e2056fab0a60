// Changes of a model file. All that they do not name stays as its bytes are.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::onnx_export {

struct NewNode {
  std::string op, name;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::int64_t> attributes = {};
  std::string domain = {};   // empty: ai.onnx
  std::map<std::string, std::string> texts = {};  // attributes that are strings
};

// A node that stays, in another form. Attributes that it does not name stay, whatever they are.
struct NodeForm {
  std::string op = {};                               // empty: as it is
  std::vector<std::string> inputs = {};              // all of them
  std::set<std::string, std::less<>> without = {};   // attributes that go
  std::map<std::string, std::int64_t> attributes = {};
  std::map<std::string, std::string> texts = {};
};

// Changes of one graph's nodes, which are told by their place in its list, as the file has it.
struct GraphEdits {
  std::map<std::size_t, std::vector<NewNode>> before;                      // nodes that come to stand in front of this one
  // Of a node: what its operands are called now. They may go on behind its last one.
  std::map<std::size_t, std::map<std::size_t, std::string>> inputs;
  std::map<std::size_t, NodeForm> forms;                                   // nodes that are written in another one
  std::set<std::size_t> left_out_nodes;       // what comes to stand in front of one of them takes its place
  std::map<std::size_t, std::map<std::string, GraphEdits>> bodies;         // of a node that stays: its bodies, by their attributes
};

// Of a model: those of its own graph and more.
struct Edits : GraphEdits {
  std::vector<std::pair<std::string, Tensor>> initializers;                // new ones of the model's own graph, which its bodies see
  std::set<std::string, std::less<>> left_out;                             // initializers, and inputs and value_infos of these names
  int opset = 0;        // the least version of ai.onnx that the model and its functions import from now on
  int ir_version = 0;   // the least that the model has
  std::map<std::string, int> domains = {};    // others that the model imports from now on, at these versions unless it does already
};

}  // namespace tenfold::onnx_export
