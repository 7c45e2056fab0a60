// Network: handles, inputs, constants, outputs, and the one way in which every layer becomes a node.
#include "tenfold/network.h"

#include <algorithm>
#include <atomic>

#include "api_build/network_impl.h"
#include "base/types/element.h"
#include "builder/builder.h"
#include "onnx_ops/table.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/build.h"

namespace tenfold {
namespace {

constexpr int kNewestOpset = 1 << 16;  // above every `since`: the newest form of each operator
constexpr std::size_t kMaxRank = 16;

std::atomic<std::uint32_t> next_id{1};

bool is_identifier(const std::string& name) {
  if (name.empty() || name.size() > 64 || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// The caller's own mistakes are invalid_argument here: there is no model file that could be wrong.
[[noreturn]] void rethrow(const Error& error, const std::string& layer) {
  Error mine(error.kind() == ErrorKind::invalid_model ? ErrorKind::invalid_argument : error.kind(), error.what());
  throw mine.within(layer);
}

}  // namespace

Network::Impl::Impl(ir::Graph* body_of, std::string prefix)
    : own(ir::Registry::builtin()), graph(body_of ? body_of : &own), id(next_id++), prefix(std::move(prefix)) {}

Network::Impl::Impl(ir::Graph made, std::shared_ptr<const Plugins> plugins, bool read_only)
    : plugins(std::move(plugins)), own(std::move(made)), graph(&own), id(next_id++), read_only(read_only) {
  for (ir::Value* v : own.outputs) outputs[v->name] = v;
}

NetworkTensor Network::Impl::handle(ir::Value* value) {
  const auto [it, fresh] = handles.try_emplace(value, static_cast<std::int32_t>(values.size()));
  if (fresh) values.push_back(value);
  return {it->second, id};
}

void Network::Impl::may_add() const {
  require(!read_only, ErrorKind::invalid_argument, "this network is a copy of a node's body: it can be walked, and is not changed");
}

void Network::Impl::may_edit() const {
  may_add();
  require(open_bodies == 0, ErrorKind::invalid_argument,
          "a body is being made, which may use what is edited; edit the network before or after");
}

ir::Value* Network::Impl::value(NetworkTensor tensor) {
  if (!tensor.defined()) return nullptr;
  if (tensor.network != id && outer != nullptr) return capture(outer->value(tensor));
  require(tensor.network == id && tensor.index < static_cast<std::int32_t>(values.size()), ErrorKind::invalid_argument,
          "a tensor of another network is used; a body can use its own and those of the networks around it, and gives its own to nobody "
          "but as its results");
  ir::Value* const value = values[static_cast<std::size_t>(tensor.index)];
  require(value != nullptr, ErrorKind::invalid_argument, "a tensor is used that was removed from the network");
  return value;
}

ir::Value* Network::Impl::need(NetworkTensor tensor, const char* what) {
  require(tensor.defined(), ErrorKind::invalid_argument, what, " is missing");
  return value(tensor);
}

std::vector<ir::Value*> Network::Impl::list(const Tensors& tensors) {
  std::vector<ir::Value*> result;
  for (NetworkTensor t : tensors) result.push_back(value(t));
  return result;
}

ir::Value* Network::Impl::ints(const Shape& list) {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(list.size())});
  std::copy(list.begin(), list.end(), tensor.mutable_data<std::int64_t>());
  return graph->add_constant(std::move(tensor));
}

ir::Value* Network::Impl::scalar(DType dtype, double number) {
  Tensor tensor(dtype, {});
  store_double(dtype, tensor.mutable_raw(), 0, number);
  return graph->add_constant(std::move(tensor));
}

Network::Tensors Network::Impl::append(const std::string& op, std::vector<ir::Value*> inputs, ir::Attributes attributes, int outputs,
                                       const std::string& name, const Bodies* bodies, const std::string& domain) {
  const std::string shown = prefix + (name.empty() ? op : name);
  may_add();
  try {
    const auto found = onnx_ops::find(graph->registry(), domain == "ai.onnx" ? "" : domain, op, kNewestOpset);
    require(found.has_value(), ErrorKind::unsupported, "there is no operator '", op, "'", domain.empty() ? "" : " of the domain " + domain);
    require(outputs >= 0 && outputs <= 1024, ErrorKind::invalid_argument, outputs, " outputs are asked for");
    NetworkNode node(*this, bodies, op, shown);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (int i = 0; i < outputs; ++i) node.output_names.push_back(cat(shown, "_out", i));
    if (bodies != nullptr) ir::check_attributes(graph->registry().get(op), node.attributes);
    onnx_ops::check_attributes(*found, node.attributes);
    const std::vector<ir::Value*> results = onnx_ops::convert(node, *found);
    Tensors handles;
    for (ir::Value* v : results) handles.push_back(v ? handle(v) : NetworkTensor{});
    require(static_cast<int>(handles.size()) >= outputs, ErrorKind::unsupported, "result ", handles.size(), " is not computed");
    return handles;
  } catch (const Error& error) {
    rethrow(error, "network layer '" + shown + "' (" + op + ")");
  }
}

Network::Network(std::string name, std::shared_ptr<const Plugins> plugins)
    : impl_(std::make_unique<Impl>(ir::Graph(runtime::registry_with(plugins.get())), plugins)) {
  impl_->graph->name = std::move(name);
}
Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

NetworkTensor Network::input(const std::string& name, DType dtype, const std::vector<NetworkDim>& dims) {
  ir::Graph& graph = *impl_->graph;
  impl_->may_add();
  require(impl_->prefix.empty(), ErrorKind::invalid_argument, "input '", name, "': a body gets its inputs from the layer it belongs to");
  require(!name.empty(), ErrorKind::invalid_argument, "an input needs a name");
  for (const ir::Value* v : graph.inputs) require(v->name != name, ErrorKind::invalid_argument, "two inputs are named '", name, "'");
  require(dtype != DType::string && dtype < DType::count_, ErrorKind::invalid_argument, "input '", name, "' must be a tensor of numbers");
  require(dims.size() <= kMaxRank, ErrorKind::invalid_argument, "input '", name, "' has ", dims.size(), " dimensions, at most ", kMaxRank,
          " are allowed");
  ir::ValueType type{.tensor = {dtype, {}}};
  for (const NetworkDim& d : dims) {
    if (d.name.empty()) {
      require(d.extent >= 0 && d.extent <= ir::kUnbounded, ErrorKind::invalid_argument, "input '", name, "' has the extent ", d.extent,
              "; give a dynamic dimension a name instead");
      type.tensor.dims.emplace_back(d.extent);
    } else {
      require(is_identifier(d.name), ErrorKind::invalid_argument, "input '", name, "': '", d.name,
              "' is no name for a dimension; use letters, digits and _");
      type.tensor.dims.push_back(graph.new_symbol(d.name, 0, ir::kUnbounded, ir::Origin::input_dim));
    }
  }
  ir::Value* value = graph.add_input(name, std::move(type));
  impl_->set_name(*value, name);  // even if a layer has taken it
  return impl_->handle(value);
}

NetworkTensor Network::constant(Tensor value, const std::string& name) {
  impl_->may_add();
  require(value.defined(), ErrorKind::invalid_argument, "constant '", name, "' has no data");
  require(value.dtype() != DType::string, ErrorKind::unsupported, "constant '", name, "' holds strings");
  return impl_->handle(impl_->graph->add_constant(std::move(value), name, !name.empty()));
}

Network::Tensors Network::add_node(const std::string& op, const Tensors& inputs, const NetworkAttributes& attributes, int outputs,
                                   const std::string& name, const std::string& domain) {
  ir::Attributes own;
  for (const auto& [key, value] : attributes) own.set(key, value);
  return impl_->append(op, impl_->list(inputs), std::move(own), outputs, name, nullptr, domain);
}

void Network::mark_output(NetworkTensor tensor, const std::string& name) {
  ir::Graph& graph = *impl_->graph;
  impl_->may_add();
  ir::Value* value = impl_->need(tensor, "the output");
  require(impl_->prefix.empty(), ErrorKind::invalid_argument, "output '", name, "': a body returns its results");
  require(!name.empty(), ErrorKind::invalid_argument, "an output needs a name");
  require(!impl_->outputs.count(name), ErrorKind::invalid_argument, "two outputs are named '", name, "'");
  for (const ir::Value* v : graph.inputs)
    require(v->name != name, ErrorKind::invalid_argument, "the output '", name, "' has the name of an input");
  // An output is a value of its own, so inputs, constants and what is an output already are copied.
  if (!value->producer || graph.is_output(value)) value = graph.make("Identity", {value});
  while (ir::Value* other = impl_->find(name, value)) impl_->set_name(*other, graph.unique_name(name));
  impl_->set_name(*value, name);
  graph.outputs.push_back(value);
  impl_->outputs[name] = value;
}

DType Network::dtype(NetworkTensor tensor) const { return impl_->need(tensor, "the tensor")->dtype(); }
std::string Network::describe(NetworkTensor tensor) const { return ir::text(impl_->need(tensor, "the tensor")->type); }
std::string Network::text() const { return ir::print(*impl_->graph); }

std::vector<NetworkDim> Network::dims(NetworkTensor tensor) const {
  const ir::Value* value = impl_->need(tensor, "the tensor");
  require(value->type.ranked, ErrorKind::invalid_argument, "the tensor '", value->name, "' has an unknown number of dimensions");
  std::vector<NetworkDim> result;
  for (ir::Dim d : value->dims()) result.push_back(d.is_constant() ? NetworkDim(d.constant()) : NetworkDim(d.text()));
  return result;
}

Engine build(const Network& network, const BuildConfig& config, BuildReport* report) {
  const ir::Graph& graph = *network.impl_->graph;
  network.impl_->may_add();   // a body is built with the network that it belongs to
  require(!graph.outputs.empty(), ErrorKind::invalid_argument, "the network has no outputs: call mark_output()");
  ir::Graph copy = graph.clone();
  copy.sweep();
  ir::verify(copy);
  BuildConfig with_plugins = config;
  if (!with_plugins.plugins) with_plugins.plugins = network.impl_->plugins;
  return builder::build_graph(copy, with_plugins, graph.name, report);
}

}  // namespace tenfold
