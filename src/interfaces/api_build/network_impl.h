// What a Network hides: a graph, and the values that its handles stand for.
#pragma once

#include <unordered_map>

#include "onnx_ops/onnx_node.h"
#include "tenfold/network.h"

namespace tenfold {

struct Network::Impl {
  explicit Impl(ir::Graph* body_of = nullptr, std::string prefix = "");
  Impl(ir::Graph graph, std::shared_ptr<const Plugins> plugins, bool read_only = false);

  std::shared_ptr<const Plugins> plugins;
  ir::Graph own;  // unused in bodies: their graph belongs to the node that is being added
  ir::Graph* graph;
  std::uint32_t id;
  std::vector<ir::Value*> values;  // by NetworkTensor::index; null: removed
  std::unordered_map<const ir::Value*, std::int32_t> handles;
  std::vector<ir::Node*> nodes;    // by NetworkNodeRef::index; null: removed
  std::unordered_map<const ir::Node*, std::int32_t> node_handles;
  std::map<std::string, ir::Value*> outputs;
  std::unordered_map<std::string, std::vector<ir::Value*>> names;  // who has a name, or had it when it was looked at
  std::size_t named = 0;           // how many of the graph's values are among these; it only ever gets more
  std::string prefix;  // of node names: symbols are named after nodes, so bodies must differ
  bool read_only = false;
  int open_bodies = 0;      // those that are being made

  // Of a body: the network around it, what it uses of that (by the outer value), and in which order it began to.
  Impl* outer = nullptr;
  std::unordered_map<const ir::Value*, ir::Value*> captured;
  std::vector<ir::Value*> captures;

  NetworkTensor handle(ir::Value* value);
  NetworkNodeRef handle(ir::Node* node);
  ir::Node* node(NetworkNodeRef ref) const;  // throws invalid_argument for a stranger and for one that was removed
  void forget(const ir::Value* value);
  void forget(const ir::Node* node);
  // The one that has this name, but for `except`; null: none. In time that does not depend on how many values there are.
  ir::Value* find(const std::string& name, const ir::Value* except = nullptr);
  void set_name(ir::Value& value, const std::string& name);
  void infer_from(ir::Node& node);           // its results and all that follows from them
  void may_add() const;                      // throw invalid_argument where that is not allowed
  void may_edit() const;
  ir::Value* capture(ir::Value* outer_value);
  // Null for one that is left out; throws invalid_argument for a stranger. One of a network around this one is captured.
  ir::Value* value(NetworkTensor tensor);
  ir::Value* need(NetworkTensor tensor, const char* what);
  std::vector<ir::Value*> list(const Tensors& tensors);
  ir::Value* ints(const Shape& list);
  ir::Value* scalar(DType dtype, double number);

  // Body attributes of If, Loop and Scan, and the values that are handed to them from outside.
  struct Bodies {
    std::map<std::string, const Body*, std::less<>> by_name;
    std::vector<ir::Value*> captures;
  };
  Tensors append(const std::string& op, std::vector<ir::Value*> inputs, ir::Attributes attributes = {}, int outputs = 1,
                 const std::string& name = "", const Bodies* bodies = nullptr, const std::string& domain = "");
  NetworkTensor one(const std::string& op, std::vector<ir::Value*> inputs, ir::Attributes attributes = {}) {
    return append(op, std::move(inputs), std::move(attributes))[0];
  }
};

// The node as conversions see it: what the importer reads from a file comes from the caller's code here.
class NetworkNode final : public onnx_ops::OnnxImport {
 public:
  NetworkNode(Network::Impl& network, const Network::Impl::Bodies* bodies, std::string op, std::string name);
  bool has_graph(std::string_view attribute) const override;
  std::vector<std::unique_ptr<ir::Graph>> closed_bodies(const std::vector<std::string>& names,
                                                        const std::vector<std::vector<ir::ValueType>>& formal,
                                                        std::vector<ir::Value*>& captures) override;
  std::vector<ir::Value*> add_body(const std::string& attribute, const std::vector<ir::Value*>&) override {
    throw Error(ErrorKind::unsupported, cat("the body '", attribute, "' is read from ONNX files alone"));
  }

 private:
  // A body made by the caller's function, and what it uses from outside.
  struct Made {
    std::unique_ptr<ir::Graph> graph;
    std::unordered_map<const ir::Value*, ir::Value*> captured;
    std::vector<ir::Value*> captures;
  };
  Made call(const std::string& name, const std::vector<ir::ValueType>& formal);

  Network::Impl& network_;
  const Network::Impl::Bodies* bodies_;
  std::map<std::string, std::string> prefixes_;  // of the nodes in each body; a body asked for again keeps its own
};

}  // namespace tenfold
