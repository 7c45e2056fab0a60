// The names that a model came with, and what tells which of them a graph's nodes and values stand for while passes rewrite it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenfold::ir {

struct OpDef;

using NameList = std::vector<std::int32_t>;   // numbers of a NameTable's nodes or tensors, ascending, each once
void join(NameList& list, const NameList& more);

// A model's nodes and tensors as they came. One table for a graph, its bodies and their copies; it does not change while passes run.
struct NameTable {
  struct Node {
    std::string name;         // "conv1"; of a node without a name of its own "Conv -> y"
    NameList inputs;          // tensors, in no order
    NameList outputs;
  };
  std::vector<Node> nodes;
  std::vector<std::string> tensors;
};

// The model's nodes that a node stands for. `behind` are those that were fused behind what it was at first, so that a cut knows which
// part computes which.
struct Sources {
  NameList own, behind;
  bool empty() const { return own.empty() && behind.empty(); }
  NameList all() const;
};

// A node of the model that no node stands for any more, and who left it out: "fold_constants", "import".
struct Removed {
  std::int32_t node = 0;
  std::string by;
};

// What a graph notes between two calls of finalize_names (ir/lineage.h). Numbers are Node::id and Value::id.
struct Journal {
  struct Dead {
    std::uint32_t id = 0, made_before = 0;
    const OpDef* def = nullptr;
    Sources sources;
    std::vector<std::uint32_t> in, out;
  };
  std::vector<Dead> dead;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> replaced;   // a value, and what took its place
  std::uint32_t nodes = 0, values = 0;                             // the last numbers given before
};

}  // namespace tenfold::ir
