// OpDef: all that Tenfold knows of one operator. A value returned by a function named after its file; no base class.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/attribute_types.h"
#include "ir/fault.h"
#include "ir/graph.h"
#include "ir/op_traits.h"
#include "ir/op_types.h"
#include "tenfold/value.h"

namespace tenfold::ir {

// Shape inference of one node: types in, types out, and the contents of small integer tensors as Dims beside them.
class InferCall {
 public:
  InferCall(Graph& graph, Node& node) : graph_(graph), node_(node) {}
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  // For writing out what an attribute only implies: auto_pad as pads, once the extents are known.
  Attributes& edit_attributes() { return node_.attributes; }
  Graph& graph() { return graph_; }

  // The operator's own operands; those of an epilogue are not among them.
  int inputs() const { return node_.anchor_inputs >= 0 ? node_.anchor_inputs : static_cast<int>(node_.inputs.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool has(int i) const { return i < inputs() && node_.in(i) != nullptr; }
  const TensorType& in(int i) const;                    // throws invalid_model naming the operand if missing or not a tensor
  const Dims& dims(int i) const { return in(i).dims; }
  int rank(int i) const { return static_cast<int>(in(i).dims.size()); }
  DType dtype(int i) const { return in(i).dtype; }
  const ValueType& type(int i) const;                   // of any kind
  const Tensor* constant(int i) const;                  // null if not constant or missing
  const Dims* contents(int i) const;                    // elements of a small integer tensor, null if unknown
  Dims need_contents(int i, const char* what) const;    // throws unsupported if unknown

  void out(int i, DType dtype, Dims dims);
  void out(int i, ValueType type);
  void out_contents(int i, Dims values);                // only for integer and boolean tensors; of at most kMaxContents
  // A symbol for a data-dependent size, its name derived from the node's name.
  Dim new_symbol(std::string_view stem, Dim lower, Dim upper, Origin origin = Origin::host_value);
  // The three ways to refuse the node, see ir/fault.h.
  template <class... Args> void check_shape(bool condition, const Args&... args) const { ir::check_shape(condition, args...); }
  template <class... Args> void check_index(bool condition, const Args&... args) const { ir::check_index(condition, args...); }
  template <class... Args> void validate(bool condition, const Args&... args) const { ir::validate(condition, args...); }
  template <class... Args> void supported(bool condition, const Args&... args) const { ir::supported(condition, args...); }
  int axis(std::int64_t value, int rank) const;         // negative axes wrapped, range checked

 private:
  Graph& graph_;
  Node& node_;
};

// Refuses what the values of a run are, naming the node: "Gather node 'pick': index 9 is outside [-5, 5)".
[[noreturn]] void refuse_run(ErrorKind kind, const Node& node, const std::string& why);
[[noreturn]] void refuse_index(const Node& node, const std::string& why);   // an IndexFault

// A reference to a tensor that somebody else owns: dense, row major. What reference kernels read and write.
struct TensorRef {
  DType dtype = DType::f32;
  Shape shape;
  void* data = nullptr;                                 // as Tensor::raw(): of strings, std::string
  std::int64_t size() const { return element_count(shape); }
  template <class T> T* as() const { return static_cast<T*>(data); }
};
// One execution of a reference kernel. Outputs are allocated to the inferred shape, or to its upper bound when a size depends
// on the data; such kernels call shrink() with the real shape. Reference kernels are plain, single-threaded and obviously right.
struct Call {
  const Node* node = nullptr;                           // attributes, body; graphs for control flow
  std::vector<TensorRef> in, out;                       // a missing optional operand has data == nullptr
  bool has(int i) const { return i < static_cast<int>(in.size()) && in[static_cast<std::size_t>(i)].data != nullptr; }
  const Attributes& attributes() const { return node->attributes; }
  void shrink(int output, Shape shape) { out[static_cast<std::size_t>(output)].shape = std::move(shape); }
  // For what only the values of this run show, see ir/fault.h.
  template <class... Args> void check_shape(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_run(ErrorKind::invalid_argument, *node, cat(args...));
  }
  template <class... Args> void check_index(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_index(*node, cat(args...));
  }
  template <class... Args> void supported(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_run(ErrorKind::unsupported, *node, cat(args...));
  }
};

// One execution of a kernel on whole values, where strings, sequences, optionals or maps are read or made. It allocates its results itself.
class ValueCall {
 public:
  ValueCall(const Node& node, std::span<const RuntimeValue> in) : node_(node), in_(in), out_(node.outputs.size()) {}
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  int inputs() const { return static_cast<int>(in_.size()); }
  bool has(int i) const { return i < inputs() && !in_[static_cast<std::size_t>(i)].empty(); }
  // As Call's.
  template <class... Args> void check_shape(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_run(ErrorKind::invalid_argument, node_, cat(args...));
  }
  template <class... Args> void check_index(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_index(node_, cat(args...));
  }
  template <class... Args> void supported(bool condition, const Args&... args) const {
    if (!condition) [[unlikely]] refuse_run(ErrorKind::unsupported, node_, cat(args...));
  }
  const RuntimeValue& in(int i) const;                  // each refuses an operand that is something else
  const Tensor& tensor(int i) const;
  const std::vector<std::string>& strings(int i) const;
  const std::vector<RuntimeValue>& elements(int i) const;
  std::int64_t integer(int i) const;                    // of a tensor of one
  void give(int o, RuntimeValue value);
  std::vector<RuntimeValue> take() { return std::move(out_); }

 private:
  const Node& node_;
  std::span<const RuntimeValue> in_;
  std::vector<RuntimeValue> out_;
};

inline constexpr const char* kAnyDomain = "*";  // every ONNX domain that has no operator of the name

struct OpDef {
  std::string name;
  int min_inputs = 1, max_inputs = 1;                   // max -1: any number
  int min_outputs = 1, max_outputs = 1;
  OpTypes types = {};                                   // element types of operands and results, see ir/op_types.h
  Attributes attributes = {};                           // names, types and defaults; nodes hold every attribute with a default
  AttributeTypes optional_attributes = {};              // those that have none: names and types
  void (*infer)(InferCall&) = nullptr;
  void (*reference)(Call&) = nullptr;                   // null only for control flow, which the interpreter and the plan run
  // Pointwise operators: the computation as a Body over inputs of these types. Reference and infer are then derived from it.
  Body (*scalar)(const Node& node) = nullptr;
  // A fused operator as the operators that it stands for: adds them in front of `node`, over its operands, and gives what its results
  // are then. Its reference kernel (ops/fused/fused_common.h) and the tuner's other choice (`autotuned`) follow from it.
  std::vector<Value*> (*decompose)(Graph& graph, Node& node) = nullptr;
  OpTraits traits = {};                                 // what code asks that is to know no operator by name
  bool pure = true;                                     // false: random, not to be folded or merged
  bool returns = true;                                  // false: the kernel only throws; its results are never made room for
  // The first opset at which ONNX has an operator of the same name, inputs and attributes; 0: none. Where ONNX's operator differs, or
  // did at some opset, a file of onnx_ops/ tells all of its forms, and this is 0.
  int onnx_since = 0;
  std::string onnx_domain = "", onnx_name = "";         // that operator's, as plug-ins have them; "": ai.onnx, and `name`
  std::vector<std::string> cases = {};                  // test problems, see ops/cases.h: "f32[2,8,16] axis=-1"
  double tolerance = 1e-5;                              // of a tactic against the reference, relative to the largest output
  std::string on_host = {};                             // why no GPU computes it, in words for users; empty: GPUs do
  std::shared_ptr<const void> self = {};                // a plug-in's object
  // The kernel on whole values; where there is a `reference`, too, that one has the calls without any but tensors.
  void (*on_values)(ValueCall&) = nullptr;
};

// The operators known to a Builder or a Runtime: the built-in table and additions. Immutable after set-up, then thread safe.
class Registry {
 public:
  static const Registry& builtin();
  void add(OpDef def);                                  // throws invalid_argument on a duplicate name
  const OpDef* find(std::string_view name) const;
  const OpDef& get(std::string_view name) const;        // throws unsupported
  std::vector<const OpDef*> all() const;                // by name

 private:
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> defs_;
};

}  // namespace tenfold::ir
