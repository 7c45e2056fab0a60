// The walk over a model's nodes: names to values, nodes to operators, functions inlined, bodies closed. Internal to this folder.
#pragma once

#include "onnx_import/messages.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/fault.h"
#include "onnx_import/external_data.h"
#include "onnx_import/import.h"
#include "onnx_import/deferred_copies.h"
#include "onnx_import/unfold.h"
#include "onnx_ops/table.h"
#include "tenfold/model_error.h"

namespace tenfold::onnx_import {

using Opsets = std::map<std::string, int>;                              // version by domain; "" is ai.onnx
using NodeAttributes = std::map<std::string, const onnx::AttributeProto*>;    // references to a function's attributes resolved

// An operator refused its operands, which other shapes might mend: a branch of an If may wait with it until it is taken.
class Disagreement : public Error {
 public:
  explicit Disagreement(const Error& error) : Error(error) {}
};

// A body or a function has nodes with faults, which are in the list of problems already.
class ReportedError : public Error {
 public:
  explicit ReportedError(const std::string& what) : Error(ErrorKind::unsupported, what) {}
};

// Where names have a meaning: the main graph, one body, or one call of a function.
struct Scope {
  ir::Graph* graph = nullptr;
  const Opsets* opsets = nullptr;
  std::unordered_map<std::string, ir::Value*> names = {};   // null: an optional operand that the caller leaves out
  std::unordered_map<std::string, std::int32_t> tensors = {};   // the same names' numbers in the model's table
  std::unordered_set<std::string> broken = {};              // results of nodes that are not supported
  std::string prefix = "";                                  // of node names: "if_3/then_branch/"
  const NodeAttributes* bindings = nullptr;                 // in a function: the caller's attributes
  const onnx::FunctionProto* function = nullptr;            // null outside functions
  const Scope* caller = nullptr;                            // of a function's scope
  bool inlined = false;                                     // its nodes join another scope's graph: a function or a branch
  bool may_fail = false;                                    // the body of an If's branch
  std::optional<Disagreement> failed = {};                  // of such a body: why it cannot run
};

// Bodies and function calls inside each other: recursion of the importer follows the file, so it is bounded.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    ir::validate(depth < 64, "bodies and functions are nested more than 64 deep");
    ++depth_;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

class OnnxNode;

// order.cpp: names that a graph uses but does not define, in order of first use. They are found once for each graph of the model, for a
// function is read at each call, and bodies lie inside each other. The names are those in the messages, which outlive this.
class FreeNames {
 public:
  const std::vector<const std::string*>& of(const onnx::GraphProto& graph);

 private:
  std::unordered_map<const onnx::GraphProto*, std::vector<const std::string*>> orders_;
};

class Importer {
 public:
  Importer(const onnx::ModelProto& model, const ImportOptions& options, const ir::Registry& registry, ExternalData& files,
           DeferredCopies& later);
  ir::Graph run();

  // For OnnxNode (bodies.cpp).
  const std::vector<const std::string*>& free_names(const onnx::GraphProto& graph) { return free_.of(graph); }
  // A body's own inputs get `formal` types, then follow the captures; captured constants are shared.
  // `prefix` makes the names of its nodes differ from those of all other bodies.
  struct Captures {
    std::vector<ir::Value*>& values;                        // one body input each
    std::map<std::string, ir::Value*> by_name;              // what names in this body mean outside
  };
  std::unique_ptr<ir::Graph> body(const onnx::GraphProto& proto, const Scope& outer, const std::vector<ir::ValueType>& formal,
                                  const Captures& captures, const std::string& prefix, bool may_fail);
  // A body's nodes in the graph of `scope`, over `inputs`; its results.
  std::vector<ir::Value*> inlined_body(const NodeAttributes& attributes, const std::string& attribute,
                                       const std::vector<ir::Value*>& inputs, const Scope& scope, const std::string& name);
  std::unique_ptr<ir::Graph> failing_body(const onnx::GraphProto& proto, const std::vector<ir::Value*>& captures, const std::string& prefix,
                                          const std::string& why);

 private:
  void read_functions();
  void count_nodes();   // before any is made: throws where functions unfold to too many
  Opsets read_opsets(const std::vector<onnx::OperatorSetIdProto>& imports, bool main);
  void add_inputs(Scope& scope);
  std::map<std::string, const onnx::TensorProto*> overridable_inputs() const;
  ir::ValueType with_default(const onnx::ValueInfoProto& input, const onnx::TensorProto& initializer);
  Tensor initial(const onnx::TensorProto& proto, DeferredCopies* later);   // of the main graph: the caller's value, or the file's
  void check_given() const;                                                // names of the caller's values
  void add_initializers(const onnx::GraphProto& proto, Scope& scope);
  void add_outputs(Scope& scope);
  void add_output(Scope& scope, const onnx::ValueInfoProto& output);
  void note(const Error& error);   // of no node; rethrows what is not the model's
  void add_problem(ModelProblem problem);
  void report_problems();
  std::vector<ir::Value*> contents(const onnx::GraphProto& proto, Scope& scope);

  // If with a condition that is already known, as exporters write it to test ranks and extents: only the branch taken is imported.
  static std::optional<bool> known_condition(const std::vector<ir::Value*>& inputs);

  void nodes(const std::vector<onnx::NodeProto>& list, Scope& scope);
  void outer_node(const onnx::NodeProto& proto, Scope& scope, int index);
  void node(const onnx::NodeProto& proto, Scope& scope, int index);
  std::vector<ir::Value*> convert(const onnx::NodeProto& proto, Scope& scope, const std::string& name,
                                  const std::vector<ir::Value*>& inputs, const std::vector<std::string>& outputs);
  std::vector<ir::Value*> call(const onnx::FunctionProto& function, Scope& scope, const std::string& name,
                               const std::vector<ir::Value*>& inputs, const NodeAttributes& attributes, std::size_t outputs);
  std::vector<ir::Value*> convert_node(OnnxNode& node, const onnx_ops::FormMatch& found);
  void judge_alone(const onnx::NodeProto& proto, const Scope& scope);
  ModelProblem problem_of(const onnx::NodeProto& proto, const Scope& scope, const std::string& name, const Error& error) const;
  std::string shapes_may_decide() const;   // how the caller gives shapes to inputs; empty: none is open
  static void make_lists(ir::Attributes& given, const ir::Attributes& declared);
  ir::Attributes plain_attributes(const onnx::NodeProto& proto, const NodeAttributes& attributes, const onnx_ops::FormMatch& found,
                                  int opset);
  const onnx_ops::FormMatch* find(const onnx::NodeProto& proto, const Scope& scope);
  std::string missing(const std::string& domain, const std::string& op, int opset) const;
  int opset(const Scope& scope, const std::string& domain) const;
  void define(Scope& scope, const std::string& name, ir::Value* value);
  // What the model calls things (names.cpp): a body that is imported again finds the entries of the first time.
  std::int32_t tensor_entry(Scope& scope, const std::string& name);
  std::int32_t node_entry(const onnx::NodeProto& proto, Scope& scope, int index);
  // To the nodes made since node number `last`, unless all results became constants.
  static void set_sources(std::int32_t entry, const std::vector<std::string>& outputs, const Scope& scope, std::uint32_t last);
  std::string within(const Scope& scope, const std::string& name);   // the name with the scope's prefix, counted
  void charge(std::size_t operands);   // counts what a node, or a call of a function, looks at
  void charge_shapes(const ir::Value& value);   // and what its results' shapes and known contents take
  void finalize_names(ir::Graph& graph) const;   // values that the model does not name get out of the way of those that it does

  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  const ir::Registry& registry_;
  ExternalData& files_;
  DeferredCopies& later_;
  Opsets opsets_;
  FreeNames free_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  struct Known {
    std::optional<onnx_ops::FormMatch> found;
    std::string missing;   // else: why there is none
  };
  std::map<std::tuple<std::string, std::string, int>, Known> forms_;
  std::unordered_set<const ir::Value*> named_;              // values that carry a name of the model's graphs
  std::shared_ptr<ir::NameTable> table_ = std::make_shared<ir::NameTable>();
  std::unordered_map<std::string, std::int32_t> entries_;   // of table_: by scope and place in it
  std::unordered_set<std::string> node_names_;
  std::vector<const ir::Value*> inputs_;                    // of the main graph
  std::vector<ModelProblem> problems_;                      // what is wrong with the model so far, as far as it is listed
  std::int64_t problem_count_ = 0;                          // all of it
  bool invalid_ = false, problems_of_nodes_ = true;         // is any problem more than unsupported; are all of them nodes'
  std::int64_t node_count_ = 0, operand_count_ = 0, name_bytes_ = 0, shape_bytes_ = 0;
  std::int64_t max_nodes_ = 0;                             // after functions are inlined, for a file of this size
  int outermost_ = -1;                                      // number of the file's own node that is being imported
  int depth_ = 0;                                           // of bodies and function calls
};

// The node as conversions see it (bodies.cpp).
class OnnxNode final : public onnx_ops::OnnxImport {
 public:
  OnnxNode(Importer& importer, const Scope& scope, const NodeAttributes& graphs, std::string op, std::string name, int opset)
      : OnnxImport(*scope.graph, std::move(op), std::move(name), opset), importer_(importer), scope_(scope), attributes_(graphs) {}
  bool has_graph(std::string_view attribute) const override;
  std::vector<std::unique_ptr<ir::Graph>> closed_bodies(const std::vector<std::string>& names,
                                                        const std::vector<std::vector<ir::ValueType>>& formal,
                                                        std::vector<ir::Value*>& captures) override;
  std::vector<ir::Value*> add_body(const std::string& attribute, const std::vector<ir::Value*>& inputs) override {
    return importer_.inlined_body(attributes_, attribute, inputs, scope_, name());
  }

 private:
  std::vector<std::unique_ptr<ir::Graph>> make_bodies(const std::vector<std::string>& names,
                                                      const std::vector<std::vector<ir::ValueType>>& formal,
                                                      std::vector<ir::Value*>& captures);
  Importer& importer_;
  const Scope& scope_;
  const NodeAttributes& attributes_;
  std::map<std::string, std::string> prefixes_;   // of the nodes in each body
};

// problems.cpp: whether an error tells of the model, and not of this machine or the caller.
bool is_of_model(ErrorKind kind);

// attribute_proto.cpp
NodeAttributes resolve(const onnx::NodeProto& proto, const Scope& scope);
int attribute_type(const onnx::AttributeProto& proto);   // its number in the standard; throws invalid_model if it is none
ir::Attribute to_attribute(const onnx::AttributeProto& proto, ExternalData* files);
bool is_graph(const onnx::AttributeProto& proto);

// fold_shape_constants.cpp: the value, or a constant in its place.
ir::Value* fold_shape_constant(ir::Graph& graph, ir::Value* value);

// sequences.cpp: takes out sequences that nothing reads, once import has followed them.
void drop_sequences(ir::Graph& graph);

// order.cpp: the nodes' indices so that each stands after those it reads. Throws invalid_model naming a node on a cycle.
std::vector<int> topological_order(const std::vector<onnx::NodeProto>& nodes, FreeNames& free);
std::string shown(const onnx::NodeProto& node);   // "node 'conv1' (Conv)"

}  // namespace tenfold::onnx_import
