#include "passes/precision/layer_types.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "passes/precision/layer_rules.h"
#include "passes/precision/qdq.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::passes {
namespace {

constexpr const char* kWho = "layer_types (--layerPrecisions, --layerOutputTypes): ";

bool gives_floats(const ir::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [](const ir::Value* v) { return v->type.is_tensor() && is_float(v->dtype()); });
}

bool is_sixteen_bits(DType type) { return type == DType::f16 || type == DType::bf16; }

void check_names(const ir::NameTable& table, const LayerNames& index, const std::string& layers) {
  const std::size_t star = star_of(layers);
  require(star == std::string::npos || !is_pattern(std::string_view(layers).substr(star + 1)), ErrorKind::invalid_argument,
          kWho, "'", layers, "' has more than one '*'");
  if (!index.that_fit(layers).empty()) return;
  std::vector<std::string> names;
  for (const ir::NameTable::Node& node : table.nodes) names.push_back(node.name);
  const std::string near = nearest(layers, names);
  std::string some;
  for (std::size_t i = 0; near.empty() && i < names.size() && i < 3; ++i) some += (i ? "', '" : "'") + names[i];
  throw Error(ErrorKind::invalid_argument,
              cat(kWho, "no node of the model is called '", layers, "'",
                  !near.empty()  ? cat("; '", near, "' is near")
                  : some.empty() ? std::string("; the model has none")
                                 : cat("; its nodes are ", some, "' and so on (tenfold inspect lists them)")));
}

void check_type(const std::string& layers, DType type) {
  static const std::set<DType> known{DType::f32, DType::f16, DType::bf16, DType::i32,      DType::i64,
                                     DType::i8,  DType::u8,  DType::i4,   DType::f8e4m3fn, DType::f4e2m1};
  require(known.count(type), ErrorKind::invalid_argument, kWho, "layer '", layers, "' cannot have type ", name(type),
          ": f32, f16, bf16, f8e4m3fn, f4e2m1, i8, i4, i32 and i64 are known");
}

// The type among the rules of a node's sources that is widest. Of a node without floats only its own name says anything.
std::optional<DType> widest(const ir::Node& node, const LayerRules& rules) {
  std::optional<DType> found;
  for (const std::int32_t source : node.sources.all()) {
    const auto at = rules.find(source);
    if (at == rules.end() || (at->second.by_pattern && !gives_floats(node))) continue;
    const DType type = at->second.types.front();
    if (!found || bits(type) > bits(*found)) found = type;
  }
  return found;
}

bool round_output(ir::Graph& graph, ir::Value* v, DType to) {
  if (v->dtype() != DType::f32 || !is_sixteen_bits(to)) return false;
  ir::Value* narrow = graph.make("Cast", {v}, {{"to", std::string(name(to))}});
  ir::Value* wide = graph.make("Cast", {narrow}, {{"to", std::string(name(DType::f32))}});
  narrow->names = wide->names = v->names;
  graph.replace_uses(v, wide), graph.set_input(*narrow->producer, 0, v);
  return true;
}

}  // namespace

bool gives_layer_types(const BuildConfig& config) {
  const LayerTypes& t = config.layer_types;
  return t.constraints != LayerConstraints::none && !(t.precisions.empty() && t.output_types.empty());
}

bool may_use_fp16(const BuildConfig& config) {
  const auto is_fp16 = [](const LayerPrecision& one) { return one.type == DType::f16; };
  return config.fp16 || (gives_layer_types(config) &&
                         std::any_of(config.layer_types.precisions.begin(), config.layer_types.precisions.end(), is_fp16));
}

void check_layer_types(const ir::Graph& model, const LayerTypes& types) {
  static const ir::NameTable none;
  const ir::NameTable& table = model.model_names ? *model.model_names : none;
  const LayerNames index(table);
  for (const LayerPrecision& one : types.precisions) check_names(table, index, one.layers), check_type(one.layers, one.type);
  for (const LayerOutputTypes& one : types.output_types) {
    check_names(table, index, one.layers);
    require(!one.types.empty(), ErrorKind::invalid_argument, kWho, "layer '", one.layers, "' is given no output type");
    for (const DType type : one.types) check_type(one.layers, type);
  }
}

Pass pass_give_layer_types(const LayerTypes& types) {
  return {.name = "give_layer_types", .run = [types](ir::Graph& graph) {
            if (!graph.model_names) return false;
            const LayerRules rules = precision_rules(*graph.model_names, types);
            bool changed = false;
            for (const auto& node : graph.nodes())
              if (const std::optional<DType> type = widest(*node, rules); type && type != node->numerics.type)
                node->numerics.type = type, changed = true;
            return changed;
          }};
}

// before: y f32             after: h = Cast(y) to="f16", w = Cast(h) to="f32", and w is read in place of y
Pass pass_round_outputs(const LayerTypes& types) {
  return {.name = "round_outputs", .run = [types](ir::Graph& graph) {
            if (!graph.model_names) return false;
            const LayerRules rules = output_rules(*graph.model_names, types);
            bool changed = false;
            for (ir::Node* node : graph.node_list())
              for (std::size_t o = 0; o < node->outputs.size(); ++o)
                if (const std::optional<DType> to = output_type(*graph.model_names, rules, *node, o))
                  changed |= round_output(graph, node->outputs[o], *to);
            return changed;
          }};
}

std::optional<DType> computes_in(const ir::Node& node) {
  if (node.op() == "Cast" || is_quantize(&node) || is_dequantize(&node) || node.def->traits.movement != ir::Movement::none) return {};
  if (node.def->traits.region || node.inputs.empty()) return {};
  if (const ir::Rounding to = node.numerics.round_to; to == ir::Rounding::f16 || to == ir::Rounding::bf16)
    return to == ir::Rounding::f16 ? DType::f16 : DType::bf16;
  if (node.def->traits.accumulates) return node.in(0)->dtype() == DType::u8 ? DType::i8 : node.in(0)->dtype();
  for (const ir::Value* v : node.outputs)
    if (v->type.is_tensor() && is_float(v->dtype())) return v->dtype();
  return node.outputs.empty() || !node.out()->type.is_tensor() ? std::nullopt : std::optional(node.out()->dtype());
}

std::unordered_map<std::int32_t, LayerCompute> compute_of_layers(const ir::Graph& graph) {
  std::unordered_map<std::int32_t, LayerCompute> all;
  for (const auto& node : graph.nodes())
    if (const std::optional<DType> type = computes_in(*node))
      for (const std::int32_t source : node->sources.all()) {
        const auto [at, is_new] = all.emplace(source, LayerCompute{node.get(), *type});
        if (!is_new && bits(*type) < bits(at->second.type)) at->second = {node.get(), *type};
      }
  return all;
}

std::map<DType, int> layers_by_type(const ir::Graph& graph) {
  std::map<DType, int> counts;
  for (const auto& [layer, compute] : compute_of_layers(graph)) ++counts[compute.type];
  return counts;
}

}  // namespace tenfold::passes
