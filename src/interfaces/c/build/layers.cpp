// Layers in C.
#include "c/build/network_common.h"
#include "tenfold/c/layers.h"
#include "tenfold/layers.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_layers {
  tenfold_network& net;
  Layers layers;
  // What was handed out last.
  std::string name = {}, kind = {};
  NetworkAttribute option = {};
  std::vector<tenfold_layer_operand> operands = {};
};

namespace {

LayerOperand operand_of(const tenfold_layers& l, const tenfold_layer_operand& given) {
  if (given.layer >= 0) return {.layer = given.layer, .result = given.result, .tensor = {}};
  return {.layer = -1, .result = 0, .tensor = value_of(l.net, given.value)};
}

template <class Act>
tenfold_status with(tenfold_layers* layers, Act act) {
  return guarded([&] { act(need(layers, "the layers")); });
}

}  // namespace

extern "C" tenfold_status tenfold_layers_create(tenfold_network* network, tenfold_layers** layers) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    // The caller keeps the network alive.
    place(layers, "the place for the layers", [&] {
      return new tenfold_layers{net, Layers(std::shared_ptr<Network>(std::shared_ptr<void>(), net.network))};
    });
  });
}
extern "C" void tenfold_layers_free(tenfold_layers* layers) { delete layers; }

extern "C" const char* tenfold_layers_kind(int32_t index) {
  static const std::vector<std::string> kinds = Layers::kinds();
  return index >= 0 && static_cast<std::size_t>(index) < kinds.size() ? kinds[static_cast<std::size_t>(index)].c_str() : nullptr;
}

extern "C" tenfold_status tenfold_layers_add(tenfold_layers* layers, const char* kind, const char* name,
                                             const tenfold_layer_operand* operands, int32_t operand_count, const tenfold_attribute* options,
                                             int32_t option_count, int32_t* layer) {
  return with(layers, [&](tenfold_layers& l) {
    require(operand_count >= 0 && option_count >= 0, ErrorKind::invalid_argument, "a count is negative");
    std::vector<LayerOperand> given;
    for (std::int32_t i = 0; i < operand_count; ++i) given.push_back(operand_of(l, (&need(operands, "the operands"))[i]));
    NetworkAttributes set;
    for (std::int32_t i = 0; i < option_count; ++i) {
      const tenfold_attribute& a = (&need(options, "the options"))[i];
      set[&need(a.name, "an option's name")] = attribute_of(a);
    }
    std::int32_t& number = need(layer, "the place for the layer");
    number = l.layers.add(&need(kind, "the kind"), std::move(given), set, name ? name : "");
  });
}
extern "C" tenfold_status tenfold_layers_set(tenfold_layers* layers, int32_t layer, const tenfold_attribute* option) {
  return with(layers, [&](tenfold_layers& l) {
    const tenfold_attribute& a = need(option, "the option");
    l.layers.set(layer, &need(a.name, "the option's name"), attribute_of(a));
  });
}
extern "C" tenfold_status tenfold_layers_option(tenfold_layers* layers, int32_t layer, const char* name, tenfold_attribute* option,
                                                tenfold_data** tensor) {
  return with(layers, [&](tenfold_layers& l) {
    l.name = &need(name, "the option's name");
    l.option = l.layers.option(layer, l.name);
    const auto* held = std::get_if<Tensor>(&l.option);
    if (held && !held->defined()) {
      need(tensor, "the place for the option's tensor") = nullptr;
      tenfold_attribute none{};
      none.name = l.name.c_str(), none.kind = TENFOLD_ATTRIBUTE_TENSOR;
      return give(option, none, "the place for the option");
    }
    give(option, reported(l.net, l.name, l.option, tensor), "the place for the option");
  });
}
extern "C" tenfold_status tenfold_layers_info(tenfold_layers* layers, int32_t layer, tenfold_layer_info* info) {
  return with(layers, [&](tenfold_layers& l) {
    l.kind = l.layers.kind(layer), l.name = l.layers.name(layer), l.operands.clear();
    for (const LayerOperand& o : l.layers.operands(layer)) l.operands.push_back({o.layer, o.result, handle(l.net, o.tensor)});
    give(info, {0, l.kind.c_str(), l.name.c_str(), l.operands.data(), static_cast<std::int32_t>(l.operands.size())},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_layers_set_operand(tenfold_layers* layers, int32_t layer, int32_t index, tenfold_layer_operand operand) {
  return with(layers, [&](tenfold_layers& l) { l.layers.set_operand(layer, index, operand_of(l, operand)); });
}
extern "C" tenfold_status tenfold_layers_rename(tenfold_layers* layers, int32_t layer, const char* name) {
  return with(layers, [&](tenfold_layers& l) { l.layers.rename(layer, &need(name, "the name")); });
}
extern "C" tenfold_status tenfold_layers_result(tenfold_layers* layers, int32_t layer, int32_t result, tenfold_value* value,
                                                int32_t* count) {
  return with(layers, [&](tenfold_layers& l) {
    need(value, "the place for the value") = handle(l.net, l.layers.result(layer, result));
    if (count) *count = l.layers.results(layer);
  });
}
extern "C" tenfold_status tenfold_layers_rename_result(tenfold_layers* layers, int32_t layer, int32_t result, const char* name) {
  return with(layers, [&](tenfold_layers& l) { l.layers.rename_result(layer, result, &need(name, "the name")); });
}
extern "C" tenfold_status tenfold_layers_mark_output(tenfold_layers* layers, tenfold_layer_operand value, const char* name) {
  return with(layers, [&](tenfold_layers& l) { l.layers.mark_output(operand_of(l, value), &need(name, "the output's name")); });
}
extern "C" tenfold_status tenfold_layers_unmark_output(tenfold_layers* layers, const char* name) {
  return with(layers, [&](tenfold_layers& l) { l.layers.unmark_output(&need(name, "the output's name")); });
}
extern "C" int32_t tenfold_layers_is_output(const tenfold_layers* layers, int32_t layer, int32_t result) {
  return layers && layers->layers.is_output(layer, result) ? 1 : 0;
}
extern "C" tenfold_status tenfold_layers_finalize(tenfold_layers* layers) {
  return with(layers, [](tenfold_layers& l) { l.layers.finalize(); });
}
