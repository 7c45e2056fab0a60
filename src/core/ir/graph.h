// Graph: nodes and values in logical order. What every pass reads and rewrites; no backend, layout or device appears here.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/body.h"
#include "ir/names.h"
#include "ir/numerics.h"
#include "ir/type.h"

namespace tenfold::ir {

class Graph;
class Registry;
struct OpDef;
struct Node;

// How a folded constant was made from the model's named weights, so that refit can make it again. Null for an original weight.
struct Recipe;

// A tensor of more integers than this is data, not a shape: nothing follows its elements.
inline constexpr std::int64_t kMaxContents = 64;

struct Constant {
  Tensor tensor;
  std::string weight_name;                  // the model's name for it, empty if computed
  std::shared_ptr<const Recipe> recipe;     // if computed from named weights
};

struct Value {
  std::string name;
  ValueType type;
  Node* producer = nullptr;                 // null: graph input or constant
  int producer_index = 0;
  std::vector<Node*> users;                 // one entry per use, kept by Graph
  std::shared_ptr<const Constant> constant;
  std::optional<Dims> contents;             // elements of an integer tensor of at most kMaxContents as Dims, if known
  NameList names;                           // the model's tensors that it equals, but for the width of its numbers
  std::uint32_t id = 0;                     // given by Graph, never twice; a copy of the graph keeps it

  bool is_constant() const { return constant != nullptr; }
  const Dims& dims() const { return type.tensor.dims; }
  DType dtype() const { return type.tensor.dtype; }
  int rank() const { return static_cast<int>(type.tensor.dims.size()); }
};

// One computation. `inputs` may hold null for an optional operand that is left out.
// Anchor with epilogue: `body` is set; inputs[0 .. anchor_inputs) are the anchor's own, the rest feed body inputs 1, 2, ...
// Region: op "Region", `body` is the whole meaning, inputs feed body inputs 0, 1, ...
// Bodies of If, Loop and Scan are closed graphs: captured values are ordinary inputs of the node (see ops/control).
struct Node {
  const OpDef* def = nullptr;
  std::string name;
  std::vector<Value*> inputs, outputs;
  Attributes attributes;
  Numerics numerics;
  std::optional<Body> body;
  int anchor_inputs = -1;                   // -1: all inputs are the operator's own
  std::vector<std::unique_ptr<Graph>> graphs;
  Sources sources;                          // the model's nodes that it stands for; see ir/lineage.h for who keeps them
  std::uint32_t id = 0, made_before = 0;    // given by Graph: its number, and that of the node in front of which it was made
  std::list<std::unique_ptr<Node>>::iterator self;   // kept by Graph

  const std::string& op() const;
  Value* in(int i) const { return i < static_cast<int>(inputs.size()) ? inputs[static_cast<std::size_t>(i)] : nullptr; }
  Value* out(int i = 0) const { return i < static_cast<int>(outputs.size()) ? outputs[static_cast<std::size_t>(i)] : nullptr; }
};

class Graph {
 public:
  explicit Graph(const Registry& registry);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const Registry& registry() const { return *registry_; }
  std::string name;
  std::vector<Value*> inputs, outputs;
  std::vector<Symbol> symbols;              // every symbol used by a type, with bounds and origin
  SymbolBounds box() const;                 // the symbols' bounds, as far as they are constant
  std::shared_ptr<const NameTable> model_names;   // null: nobody follows the model's names
  std::vector<Removed> removed;             // its bodies have lists of their own

  Value* add_input(std::string name, ValueType type);
  Value* add_constant(Tensor tensor, std::string name = "", bool is_weight = false);
  Value* add_constant(std::shared_ptr<const Constant> constant, std::string name);

  // Appends (or inserts before `before`) a node and infers its output types and contents. Throws invalid_model if they disagree.
  Node* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}, int outputs = 1, std::string name = "",
            Node* before = nullptr);
  // The same for nodes with a body or with graphs: fill everything but outputs; `outputs` new values are made.
  Node* add(Node node, int outputs, Node* before = nullptr);
  // The same operator with the attributes, numerics, name and sources of `like` over other operands; no body.
  Node* add_like(const Node& like, std::vector<Value*> inputs, Node* before = nullptr);
  // Shorthand: the first output of add(...).
  Value* make(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}, Node* before = nullptr);

  void infer(Node& node);                                    // recomputes the output types after a change
  void replace_uses(Value* old_value, Value* new_value);     // in nodes and graph outputs; the old name moves if it was an output
  void note_replaced(const Value& old_value, const Value& new_value);   // by other means than replace_uses: for ir/lineage.h
  void set_input(Node& node, int index, Value* value);
  void erase(Node& node);                                    // must have no users left
  void sweep();                                              // drops nodes whose results nobody uses, and unused constants
  void sort();                                               // restores topological order, stable
  bool is_output(const Value* value) const;

  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> node_list() const;                      // a copy to walk while the graph changes
  const std::list<std::unique_ptr<Value>>& values() const { return values_; }
  std::string unique_name(std::string_view stem);
  Dim new_symbol(std::string_view stem, Dim lower, Dim upper, Origin origin);
  Graph clone() const;
  std::uint32_t last_node() const { return last_node_; }     // the highest Node::id given
  const Journal& journal() const { return journal_; }
  void clear_journal();

 private:
  void bury(Node& node);
  Value* new_value(std::string name);
  const Registry* registry_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::list<std::unique_ptr<Value>> values_;
  std::map<std::string, int, std::less<>> name_counts_;
  std::uint32_t last_node_ = 0, last_value_ = 0;
  Journal journal_;
};

// Text form: what dumps, pictures and bug reports use. parse(print(g)) gives an equal graph (see ir/text.h).
std::string print(const Graph& graph);
// Throws Error(internal) naming the node when something that must hold does not: order, users, bodies. Types: ir/check_types.h.
void verify(const Graph& graph);

}  // namespace tenfold::ir
