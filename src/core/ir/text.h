// The text form of graphs: what dumps, pass pictures, bug reports and the plan's portable section are written in.
//
//   symbol batch [1 .. 64] input_dim
//   (x f32[batch,512], b f32[768]!)            formal inputs; `!` in a picture: a random constant instead
//     w = constant f32[512,768] #0             a constant by number; or random, in a picture, if there is no number
//     two = f32[]{2.0}                         a literal
//     t = MatMul(x, w)
//     y = Add(t, b) name="add_1"
//     z = If(c, t) graphs=[ (..) .. return .. ]
//     q = Relu(p) model={3;4} tensors={7}      the model's nodes that it stands for (own; behind), and tensors that results equal
//     return y                                 left out: the outputs of the last node
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/attribute_types.h"
#include "ir/graph.h"

namespace tenfold::ir {

struct PrintOptions {
  bool types = false;     // result types as comments
  bool names = false;     // node names
  bool symbols = true;
  bool model_names = false;   // what nodes and values stand for, by number in Graph::model_names
  std::vector<std::shared_ptr<const Constant>>* constants = nullptr;   // if set: every constant is put here and printed by number
};
std::string print(const Graph& graph, const PrintOptions& options);

struct ParseOptions {
  const std::vector<std::shared_ptr<const Constant>>* constants = nullptr;   // what `#n` refers to
  // For pictures: makes the data of constants without number; null: such a constant is an error.
  Tensor (*random_constant)(DType dtype, const Shape& shape, std::uint64_t seed) = nullptr;
};
// Throws invalid_model with line and position. Types are inferred afresh.
Graph parse_graph(std::string_view text, const Registry& registry, const ParseOptions& options = {});

// A definition: what an operator of a model means as nodes of others.
//
//   (x, scale, bias?) alpha=0.5 axis=int? s=ints!  operands, `?`: may be left out; attributes: a default, may be left out, must be there
//     d = Reshape(x, @s)                           an attribute as an operand: a constant i64[n]
//     t = Cast(d) to=@type(scale)                  the name of an operand's element type
//     s = Add(t, bias) if bias else t              where the operand is given
//     y = LeakyRelu(s) alpha=@alpha                an attribute as an attribute, not set where it is left out
//     return y, _, s                               `_`: a result that is not computed
struct Definition {
  struct Operand { std::string name; bool optional = false; };
  std::vector<Operand> operands;
  Attributes attributes;                         // with their defaults
  AttributeTypes other_attributes;               // those that have none
  std::vector<std::string> needed_attributes;    // of these, those that must be there
};
Definition read_definition(std::string_view text);   // its first line
// Adds the nodes, all named after `node_name`, and returns the results. Operands beyond the definition's, and attributes that it does not
// list, are the caller's to refuse. A fault names an operand that is missing.
std::vector<Value*> add_definition(Graph& graph, std::string_view text, const std::vector<Value*>& operands, const Attributes& attributes,
                                   const std::string& node_name);

}  // namespace tenfold::ir
