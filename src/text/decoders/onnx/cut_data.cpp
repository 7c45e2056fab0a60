#include "text/decoders/onnx/cut_data.h"

#include <algorithm>
#include <map>

#include "text/decoders/onnx/walk.h"

namespace tenfold::decoders::onnx {
namespace {

class Cut {
 public:
  Cut(Network& net, NetworkTensor ids) : net_(net) {
    const std::vector<NetworkDim> dims = net.dims(ids);
    const NetworkTensor extents = net.shape(ids);
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      if (!dims[axis].name.empty()) symbols_[dims[axis].name] = net.slice(extents, {static_cast<std::int64_t>(axis)}, {1});
  }

  void operand(NetworkNodeRef node, std::size_t index) {
    const NetworkTensor value = net_.node(node).inputs[index];
    if (!value.defined() || !net_.producer(value).defined() || rank(net_, value) < 1) return;
    const std::vector<NetworkDim> dims = net_.dims(value);
    const auto is_known = [&](const NetworkDim& d) { return d.name.empty() || symbols_.count(d.name); };
    if (std::all_of(dims.begin(), dims.end(), is_known)) net_.set_input(node, static_cast<int>(index), zeros(net_.dtype(value), dims));
  }

 private:
  NetworkTensor zeros(DType type, const std::vector<NetworkDim>& dims) {
    std::string key = std::string(name(type));
    Network::Tensors extents;
    for (const NetworkDim& d : dims) {
      Tensor extent(DType::i64, {1});
      *extent.mutable_data<std::int64_t>() = d.extent;
      extents.push_back(d.name.empty() ? net_.constant(std::move(extent)) : symbols_.at(d.name));
      key += "," + (d.name.empty() ? std::to_string(d.extent) : d.name);
    }
    NetworkTensor& known = zeros_[key];
    if (!known.defined()) known = net_.add_node("Expand", {net_.constant(Tensor(type, {})), net_.concatenation(extents, 0)})[0];
    return known;
  }
  Network& net_;
  std::map<std::string, NetworkTensor> symbols_, zeros_;
};

}  // namespace

void cut_data(Network& net, const Bindings& bindings) {
  const auto ids = std::find_if(bindings.told.begin(), bindings.told.end(), [](const Told& one) { return one.role == Role::ids; });
  Cut cut(net, ids->value);
  for (const NetworkNodeRef ref : net.nodes()) {
    const NetworkNodeInfo node = net.node(ref);
    const bool continues = std::any_of(bindings.caches.begin(), bindings.caches.end(), [&](const Cache& c) { return c.node == ref; });
    if (node.op == "Shape" || node.op == "Size") cut.operand(ref, 0);
    for (std::size_t i = 0; continues && i < node.inputs.size(); ++i)
      if (node.inputs[i].defined() && is_float(net.dtype(node.inputs[i]))) cut.operand(ref, i);
  }
}

}  // namespace tenfold::decoders::onnx
