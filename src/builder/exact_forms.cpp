// What BuildConfig switches off of the faster ways to compute f32, written at the nodes that tactics are asked for.
#include "builder/exact_forms.h"

namespace tenfold::builder {

void forbid(ir::Graph& graph, const BuildConfig& config) {
  if (config.winograd && config.strassen && config.fast_exp) return;
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) forbid(*body, config);
    if (!config.winograd && n->op() == "Conv") n->attributes.set("winograd", std::int64_t{0});
    if (!config.strassen && n->op() == "MatMul") n->attributes.set("strassen", std::int64_t{0});
    if (!config.fast_exp && (n->op() == "Softmax" || n->op() == "LogSoftmax")) n->attributes.set("fast_exp", std::int64_t{0});
  }
}

}  // namespace tenfold::builder
