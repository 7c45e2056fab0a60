// Layers: what each is made of, and making anew what has changed.
#include "tenfold/layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "layers/layer.h"

namespace tenfold {

using layers::LayerCall;
using layers::LayerKind;

namespace {

const std::map<std::string, LayerKind>& kinds_by_name() {
  static const std::map<std::string, LayerKind> all = [] {
    std::map<std::string, LayerKind> made;
    for (LayerKind& kind : layers::all_kinds()) made.emplace(kind.name, std::move(kind));
    return made;
  }();
  return all;
}

const LayerKind& kind_of(const std::string& name) {
  const auto found = kinds_by_name().find(name);
  if (found == kinds_by_name().end()) throw Error(ErrorKind::invalid_argument, "there is no kind of layer '" + name + "'");
  return found->second;
}

struct Layer {
  const LayerKind* kind = nullptr;
  std::string name;
  std::vector<LayerOperand> operands;
  NetworkAttributes options;
  std::map<int, std::string> names;   // of results, as the caller gave them
  Network::Tensors made;              // its results, while it is up to date
  std::vector<NetworkNodeRef> nodes;  // that stand for it
  bool was_made = false;              // before, with other options
  enum class State : std::uint8_t { changed, being_made, made } state = State::changed;
};

struct Output {
  LayerOperand value;
  std::string name;
};

}  // namespace

struct Layers::Impl {
  std::shared_ptr<Network> net;
  std::vector<Layer> all;
  std::vector<Output> outputs;     // of layers' results; in their order
  std::vector<std::size_t> order;  // of layers that are made: each behind those that it reads
  bool outputs_are_marked = true;

  Layer& at(std::int32_t layer) {
    if (layer < 0 || static_cast<std::size_t>(layer) >= all.size())
      throw Error(ErrorKind::invalid_argument, "there is no layer " + std::to_string(layer));
    return all[static_cast<std::size_t>(layer)];
  }
  void check(const LayerOperand& operand, const std::string& name) const {
    if (operand.layer >= 0 && static_cast<std::size_t>(operand.layer) >= all.size())
      throw Error(ErrorKind::invalid_argument,
                  "layer '" + name + "': there is no layer " + std::to_string(operand.layer) + " to read from");
  }
  static void put(Layer& layer, const std::string& option, NetworkAttribute value) {
    const auto known = layer.kind->options.find(option);
    if (known == layer.kind->options.end())
      throw Error(ErrorKind::invalid_argument, "layer '" + layer.name + "' (" + layer.kind->name + ") has no option '" + option + "'");
    if (std::holds_alternative<float>(known->second) && std::holds_alternative<std::int64_t>(value))
      value = static_cast<float>(std::get<std::int64_t>(value));
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (std::holds_alternative<std::vector<float>>(known->second) && numbers) value = std::vector<float>(numbers->begin(), numbers->end());
    if (known->second.index() != value.index())
      throw Error(ErrorKind::invalid_argument,
                  "layer '" + layer.name + "' (" + layer.kind->name + "): option '" + option + "' has another type");
    layer.options[option] = std::move(value);
  }
  // This layer and all that were made after it are to be made anew. Outputs go first, since what is one cannot be removed, then nodes
  // from the last on.
  void unmake(std::int32_t layer) {
    if (at(layer).state == Layer::State::changed) return;
    const auto first = std::find(order.begin(), order.end(), static_cast<std::size_t>(layer));
    if (first == order.end()) return;
    if (outputs_are_marked)
      for (const Output& output : outputs) drop_output(output.name);
    outputs_are_marked = false;
    for (auto at = order.end(); at != first;) remove_nodes(all[*--at]);
    order.erase(first, order.end());
  }
  void remove_nodes(Layer& layer) {
    for (auto node = layer.nodes.rbegin(); node != layer.nodes.rend(); ++node) net->remove(*node);
    layer.nodes.clear(), layer.made.clear(), layer.state = Layer::State::changed;
  }
  void drop_output(const std::string& name) {
    for (const NetworkTensor t : net->outputs())
      if (net->name(t) == name) return net->remove_output(name);
  }
  NetworkTensor tensor(const LayerOperand& operand) {
    if (operand.layer < 0) return operand.tensor;
    const Layer& from = at(operand.layer);
    if (operand.result < 0 || static_cast<std::size_t>(operand.result) >= from.made.size())
      throw Error(ErrorKind::invalid_argument, "layer '" + from.name + "' has " + std::to_string(from.made.size()) +
                                                   " results, there is none of number " + std::to_string(operand.result));
    return from.made[static_cast<std::size_t>(operand.result)];
  }
  // Each layer behind those that it reads. Without recursion: a chain may be as long as the caller likes.
  void make(std::size_t number) {
    std::vector<std::size_t> waiting{number};
    try {
      while (!waiting.empty()) {
        Layer& layer = all[waiting.back()];
        if (const std::optional<std::size_t> first = unmade_operand(layer)) {
          layer.state = Layer::State::being_made;
          if (all[*first].state == Layer::State::being_made)
            throw Error(ErrorKind::invalid_argument, "layer '" + all[*first].name + "' reads its own result, by way of others");
          waiting.push_back(*first);
          continue;
        }
        if (layer.state != Layer::State::made) make_nodes(layer), order.push_back(waiting.back());
        waiting.pop_back();
      }
    } catch (...) {
      for (const std::size_t left : waiting) remove_nodes(all[left]);
      throw;
    }
  }
  std::optional<std::size_t> unmade_operand(const Layer& layer) const {
    for (const LayerOperand& o : layer.operands)
      if (o.layer >= 0 && layer.state != Layer::State::made && all[static_cast<std::size_t>(o.layer)].state != Layer::State::made)
        return static_cast<std::size_t>(o.layer);
    return {};
  }
  void make_nodes(Layer& layer) {
    Network::Tensors in;
    for (const LayerOperand& operand : layer.operands) in.push_back(tensor(operand));
    const LayerCall call(*net, layer.name, in, layer.options, layer.was_made);
    layer.was_made = true;
    try {
      layer.made = layer.kind->make(call);
    } catch (Error& e) {
      layer.nodes = call.nodes_made();
      e.within("layer '" + layer.name + "' (" + layer.kind->name + ")");
      throw;
    }
    layer.nodes = call.nodes_made();
    for (const auto& [index, given] : layer.names)
      if (static_cast<std::size_t>(index) < layer.made.size()) net->rename(layer.made[static_cast<std::size_t>(index)], given);
    layer.state = Layer::State::made;
  }
  void settle() {
    for (std::size_t i = 0; order.size() < all.size() && i < all.size(); ++i) make(i);
    settle_outputs();
  }
  void settle_outputs() {
    if (outputs_are_marked) return;
    for (const Output& output : outputs) {
      if (output.value.layer >= 0) make(static_cast<std::size_t>(output.value.layer));
      net->mark_output(tensor(output.value), output.name);
    }
    outputs_are_marked = true;
  }
};

Layers::Layers(std::shared_ptr<Network> network) : impl_(std::make_unique<Impl>()) { impl_->net = std::move(network); }
Layers::~Layers() = default;
Layers::Layers(Layers&&) noexcept = default;
Layers& Layers::operator=(Layers&&) noexcept = default;

std::vector<std::string> Layers::kinds() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds_by_name()) names.push_back(name);
  return names;
}
NetworkAttributes Layers::options_of(const std::string& kind) { return kind_of(kind).options; }

std::int32_t Layers::add(const std::string& kind, std::vector<LayerOperand> operands, const NetworkAttributes& options, std::string name) {
  Layer layer{.kind = &kind_of(kind), .name = std::move(name), .operands = std::move(operands)};
  const auto number = impl_->all.size();
  if (layer.name.empty()) layer.name = kind + "_" + std::to_string(number);
  const auto given = static_cast<int>(layer.operands.size());
  if (given < layer.kind->min_inputs || (layer.kind->max_inputs >= 0 && given > layer.kind->max_inputs))
    throw Error(ErrorKind::invalid_argument, "layer '" + layer.name + "' (" + kind + ") has " + std::to_string(given) + " operands");
  for (const LayerOperand& operand : layer.operands) impl_->check(operand, layer.name);
  layer.options = layer.kind->options;
  for (const auto& [option, value] : options) Impl::put(layer, option, value);
  impl_->all.push_back(std::move(layer));
  return static_cast<std::int32_t>(number);
}

std::int32_t Layers::count() const { return static_cast<std::int32_t>(impl_->all.size()); }
const std::string& Layers::kind(std::int32_t layer) const { return impl_->at(layer).kind->name; }
const std::string& Layers::name(std::int32_t layer) const { return impl_->at(layer).name; }
void Layers::rename(std::int32_t layer, const std::string& name) {
  impl_->at(layer).name = name;
  impl_->unmake(layer);
}
const std::vector<LayerOperand>& Layers::operands(std::int32_t layer) const { return impl_->at(layer).operands; }

void Layers::set_operand(std::int32_t layer, int index, LayerOperand operand) {
  Layer& l = impl_->at(layer);
  if (index < 0 || (l.kind->max_inputs >= 0 && index >= l.kind->max_inputs))
    throw Error(ErrorKind::invalid_argument, "layer '" + l.name + "' (" + l.kind->name + ") has no operand " + std::to_string(index));
  impl_->check(operand, l.name);
  if (static_cast<std::size_t>(index) >= l.operands.size()) l.operands.resize(static_cast<std::size_t>(index) + 1);
  l.operands[static_cast<std::size_t>(index)] = operand;
  impl_->unmake(layer);
}

NetworkAttribute Layers::option(std::int32_t layer, const std::string& name) const {
  const Layer& l = impl_->at(layer);
  const auto found = l.options.find(name);
  if (found == l.options.end())
    throw Error(ErrorKind::invalid_argument, "layer '" + l.name + "' (" + l.kind->name + ") has no option '" + name + "'");
  return found->second;
}
void Layers::set(std::int32_t layer, const std::string& option, NetworkAttribute value) {
  Impl::put(impl_->at(layer), option, std::move(value));
  impl_->unmake(layer);
}

int Layers::results(std::int32_t layer) {
  impl_->at(layer);
  impl_->make(static_cast<std::size_t>(layer));
  return static_cast<int>(impl_->at(layer).made.size());
}
NetworkTensor Layers::result(std::int32_t layer, int index) {
  impl_->at(layer);
  impl_->make(static_cast<std::size_t>(layer));
  return impl_->tensor({.layer = layer, .result = index, .tensor = {}});
}
void Layers::rename_result(std::int32_t layer, int index, const std::string& name) {
  impl_->net->rename(result(layer, index), name);
  impl_->at(layer).names[index] = name;
  for (Output& output : impl_->outputs)
    if (output.value.layer == layer && output.value.result == index) output.name = name;
}

void Layers::mark_output(LayerOperand value, const std::string& name) {
  impl_->settle_outputs();
  const NetworkTensor t = value.layer >= 0 ? result(value.layer, value.result) : value.tensor;
  impl_->net->mark_output(t, name);
  impl_->outputs.push_back({value, name});
}
void Layers::unmark_output(const std::string& name) {
  impl_->settle_outputs();
  impl_->net->remove_output(name);
  std::erase_if(impl_->outputs, [&](const Output& o) { return o.name == name; });
}
bool Layers::is_output(std::int32_t layer, int index) const {
  return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                     [&](const Output& o) { return o.value.layer == layer && o.value.result == index; });
}

void Layers::settle() { impl_->settle(); }

}  // namespace tenfold
