// Layers: what each is made of, and making anew what has changed.
#include "tenfold/layers.h"

#include <utility>

#include "layers/layers_impl.h"

namespace tenfold {

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

}  // namespace

struct Layers::Impl : LayerStore {};

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
  layer.first_name = layer.name;
  const auto given = static_cast<int>(layer.operands.size());
  if (given < layer.kind->min_inputs || (layer.kind->max_inputs >= 0 && given > layer.kind->max_inputs))
    throw Error(ErrorKind::invalid_argument, "layer '" + layer.name + "' (" + kind + ") has " + std::to_string(given) + " operands");
  for (const LayerOperand& operand : layer.operands) impl_->check(operand, layer.name);
  layer.options = layer.kind->options;
  for (const auto& [option, value] : options) Impl::put(layer, option, value);
  for (std::size_t i = 0; layer.region() >= 0 && i < number; ++i)  // what is made of the region is made without this
    if (impl_->all[i].region() == layer.region()) impl_->unmake(static_cast<std::int32_t>(i));
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
  impl_->bind_unbound_outputs();
  const NetworkTensor t = value.layer >= 0 ? result(value.layer, value.result) : value.tensor;
  impl_->net->mark_output(t, name);
  impl_->outputs.push_back({value, name});
}
void Layers::unmark_output(const std::string& name) {
  impl_->bind_unbound_outputs();
  impl_->net->remove_output(name);
  std::erase_if(impl_->outputs, [&](const Output& o) { return o.name == name; });
}
bool Layers::is_output(std::int32_t layer, int index) const {
  return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                     [&](const Output& o) { return o.value.layer == layer && o.value.result == index; });
}

void Layers::finalize() { impl_->finalize(); }

}  // namespace tenfold
