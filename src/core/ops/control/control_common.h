// What If, Loop and Scan share: bodies fed with types from outside, and their result types brought back out.
#pragma once

#include <set>

#include "ir/op_def.h"

namespace tenfold::ops {

// Gives a body the types (and contents, where not null) of its inputs and infers all its nodes afresh.
struct Formal {
  ir::ValueType type;
  const std::optional<ir::Dims>* contents = nullptr;
};
void infer_body(const ir::Graph& outer, ir::Graph& body, const std::vector<Formal>& inputs);

// A type of the body in terms of the graph around it: a dim with symbols that only the body knows becomes a new symbol. So does one with
// symbols of `inner`, which mean something else behind the node.
ir::ValueType lift(ir::InferCall& call, const ir::Graph& body, ir::ValueType type, const std::string& stem,
                   const std::set<std::string>& inner = {});

// The least type that holds for both: dims that differ become new symbols, known once the node has run.
ir::ValueType join(ir::InferCall& call, const ir::ValueType& a, const ir::ValueType& b, const std::string& stem);

// Makes `body` fail with `message` if it runs; keeps its inputs. fill_failing() gives its results the types of the branch beside it.
void make_failing(ir::Graph& body, std::size_t results, const std::string& message);
ir::Node* failing(const ir::Graph& body);   // its Fail node, null if it can run
void fill_failing(ir::InferCall& call, ir::Graph& body, const ir::Graph& other);

// Operands of the node from `first` on, as the types of captures.
std::vector<Formal> captured(const ir::Node& node, std::size_t first);

}  // namespace tenfold::ops
