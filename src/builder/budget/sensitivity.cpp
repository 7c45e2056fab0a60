#include "builder/budget/sensitivity.h"

#include <algorithm>

#include "builder/precision/observed_runs.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

// A name with a star would be a pattern.
bool can_be_named(const std::string& name) { return !name.empty() && name.find('*') == std::string::npos; }

std::vector<Sensitivity> layers_of(const ir::Graph& graph, const quant::Ranges& calibrated, const quant::Placing& placing) {
  std::vector<Sensitivity> layers;
  if (!graph.model_names) return layers;
  for (const ir::Node* node : quant::products_to_quantise(graph, calibrated, placing)) {
    if (node->numerics.type || node->sources.own.empty()) continue;
    const std::string& layer = graph.model_names->nodes[static_cast<std::size_t>(node->sources.own.front())].name;
    if (can_be_named(layer)) layers.push_back({node->name, layer, node->op(), 0});
  }
  return layers;
}

double share_of(const ir::Graph& rewritten, const std::vector<plan::Range>& ranges, const quant::Ranges& calibrated,
                const quant::Placing& placing, const BuildConfig& config, const Judge& judge, const std::string& node) {
  quant::Placing alone = placing;
  alone.takes = [&](const ir::Node& product) { return product.name == node && (!placing.takes || placing.takes(product)); };
  ir::Graph graph = rewritten.clone();
  place_qdq(graph, calibrated, alone);
  passes::run(graph, {passes::find_pass("lower_qdq"), passes::find_pass("fuse_regions")});  // kernels run it then
  ObservedRuns runs(std::move(graph), ranges, config);
  return judge.judge([&](const InputSet& sample) { return runs.run(sample); }).share;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const ir::Graph& rewritten, const std::vector<plan::Range>& ranges, const quant::Ranges& calibrated,
                                       const quant::Placing& placing, const BuildConfig& config, const Judge& judge,
                                       const std::function<bool()>& go_on) {
  std::vector<Sensitivity> layers = layers_of(rewritten, calibrated, placing);
  double largest = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!go_on()) {
      for (std::size_t rest = i; rest < layers.size(); ++rest) layers[rest].share = largest;
      break;
    }
    layers[i].share = share_of(rewritten, ranges, calibrated, placing, config, judge, layers[i].node);
    largest = std::max(largest, layers[i].share);
  }
  return layers;
}

}  // namespace tenfold::builder
