// What Layers keeps, and how it makes anew what has changed.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "layers/layer.h"

namespace tenfold {

using layers::LayerCall;
using layers::LayerKind;
using layers::RegionPart;

struct Layer {
  const LayerKind* kind = nullptr;
  std::string name;
  std::string first_name;             // which results are called after
  std::vector<LayerOperand> operands;
  NetworkAttributes options;
  std::map<int, std::string> names;   // of results, as the caller gave them
  Network::Tensors made;              // its results, while it is up to date
  std::vector<NetworkNodeRef> nodes;  // that stand for it
  bool was_made = false;              // before, with other options
  bool owns_region = false;           // its nodes are those of a whole loop or branch
  enum class State : std::uint8_t { changed, being_made, made } state = State::changed;
  std::int64_t region() const { return kind->part == RegionPart::none ? -1 : std::get<std::int64_t>(options.at("region")); }
};

struct Output {
  LayerOperand value;
  std::string name;
};

// The layers of one network.
struct LayerStore {
  std::shared_ptr<Network> net;
  std::vector<Layer> all;
  std::vector<Output> outputs;     // of layers' results; in their order
  std::vector<std::size_t> order;  // of layers that are made: each behind those that it reads
  bool outputs_are_marked = true;
  std::map<std::int64_t, std::map<std::size_t, NetworkTensor>> regions;  // results of loops and branches that are made, by their outputs


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
    if (layer.owns_region) regions.erase(layer.region()), layer.owns_region = false;
  }
  void drop_output(const std::string& name) {
    for (const NetworkTensor t : net->outputs())
      if (net->name(t) == name) return net->remove_output(name);
  }
  // What has to be made before a layer; regions.cpp.
  std::vector<LayerOperand> needs(const Layer& layer) const;
  void make_region(Layer& output, std::size_t number);
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
        if (layer.state != Layer::State::made) make_nodes(layer, waiting.back()), order.push_back(waiting.back());
        waiting.pop_back();
      }
    } catch (...) {
      for (const std::size_t left : waiting) remove_nodes(all[left]);
      throw;
    }
  }
  std::optional<std::size_t> unmade_operand(const Layer& layer) const {
    for (const LayerOperand& o : needs(layer))
      if (o.layer >= 0 && layer.state != Layer::State::made && all[static_cast<std::size_t>(o.layer)].state != Layer::State::made)
        return static_cast<std::size_t>(o.layer);
    return {};
  }
  // Whether it is computed from what comes into a loop or branch, so that it lies in a body.
  bool lies_inside(const Layer& layer) const {
    std::vector<const Layer*> open{&layer};
    std::set<const Layer*> seen;
    while (!open.empty()) {
      const Layer* at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      if (at->kind->part == RegionPart::entry) return true;
      for (const LayerOperand& o : at->operands)
        if (o.layer >= 0 && all[static_cast<std::size_t>(o.layer)].kind->part != RegionPart::output)
          open.push_back(&all[static_cast<std::size_t>(o.layer)]);
    }
    return false;
  }
  void make_nodes(Layer& layer, std::size_t number) {
    if (layer.kind->name == "assertion" && lies_inside(layer))
      throw Error(ErrorKind::unsupported, "layer '" + layer.name +
                                              "' (assertion) lies in a loop or branch, whose body nothing would keep it in: "
                                              "assert what goes in, or what comes out");
    if (layer.kind->part == RegionPart::output) {
      make_region(layer, number);
      return finish(layer);
    }
    Network::Tensors in;
    for (const LayerOperand& operand : needs(layer)) in.push_back(tensor(operand));
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
    finish(layer);
  }
  // As TensorRT calls results that the caller gave no name: LAYER_output, or LAYER_output_1 and so on.
  void name_results(const Layer& layer) const {
    for (std::size_t i = 0; i < layer.made.size(); ++i) {
      const NetworkNodeRef node = net->producer(layer.made[i]);
      const std::string name = layer.first_name + "_output" + (layer.made.size() == 1 ? "" : "_" + std::to_string(i + 1));
      const bool own = node.defined() && std::find(layer.nodes.begin(), layer.nodes.end(), node) != layer.nodes.end();
      if (own && layer.names.count(static_cast<int>(i)) == 0 && !net->find(name).defined()) net->rename(layer.made[i], name);
    }
  }
  void finish(Layer& layer) const {
    name_results(layer);
    for (const auto& [index, given] : layer.names)
      if (static_cast<std::size_t>(index) < layer.made.size()) net->rename(layer.made[static_cast<std::size_t>(index)], given);
    layer.state = Layer::State::made;
  }
  void finalize() {
    for (std::size_t i = 0; order.size() < all.size() && i < all.size(); ++i) make(i);
    bind_unbound_outputs();
  }
  void bind_unbound_outputs() {
    if (outputs_are_marked) return;
    for (const Output& output : outputs) {
      if (output.value.layer >= 0) make(static_cast<std::size_t>(output.value.layer));
      net->mark_output(tensor(output.value), output.name);
    }
    outputs_are_marked = true;
  }
};

}  // namespace tenfold
