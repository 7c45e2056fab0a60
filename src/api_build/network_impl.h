// What a Network hides: a graph, and the values that its handles stand for.
#pragma once

#include <unordered_map>

#include "onnx_ops/onnx_node.h"
#include "tenfold/network.h"

namespace tenfold {

struct Network::Impl {
  explicit Impl(ir::Graph* body_of = nullptr, std::string prefix = "");
  Impl(ir::Graph graph, std::shared_ptr<const Plugins> plugins);

  std::shared_ptr<const Plugins> plugins;
  ir::Graph own;  // unused in bodies: their graph belongs to the node that is being added
  ir::Graph* graph;
  std::uint32_t id;
  std::vector<ir::Value*> values;  // by NetworkTensor::index; null: removed
  std::unordered_map<const ir::Value*, std::int32_t> handles;
  std::vector<ir::Node*> nodes;    // by NetworkNodeRef::index; null: removed
  std::unordered_map<const ir::Node*, std::int32_t> node_handles;
  std::map<std::string, ir::Value*> outputs;
  std::string prefix;  // of node names: symbols are named after nodes, so bodies must differ

  NetworkTensor handle(ir::Value* value);
  NetworkNodeRef handle(ir::Node* node);
  ir::Node* node(NetworkNodeRef ref) const;  // throws invalid_argument for a stranger and for one that was removed
  void forget(const ir::Value* value);
  void forget(const ir::Node* node);
  void infer_from(ir::Node& node);           // its results and all that follows from them
  ir::Value* value(NetworkTensor tensor) const;  // null for one that is left out; throws invalid_argument for a stranger
  ir::Value* need(NetworkTensor tensor, const char* what) const;
  std::vector<ir::Value*> list(const Tensors& tensors) const;
  ir::Value* ints(const Shape& list);
  ir::Value* scalar(DType dtype, double number);

  // Body attributes of If and Loop, and the values that they may use from outside.
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

 private:
  Network::Tensors call(const std::string& name, ir::Graph& graph, const std::vector<ir::ValueType>& formal);

  const Network::Impl::Bodies* bodies_;
  std::map<std::string, std::string> prefixes_;  // of the nodes in each body; a body asked for again keeps its own
};

}  // namespace tenfold
