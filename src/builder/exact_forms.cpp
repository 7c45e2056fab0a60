// What BuildConfig switches off of the faster ways to compute f32, written at the nodes that tactics are asked for.
#include "builder/exact_forms.h"

#include <algorithm>

#include "base/log.h"

namespace tenfold::builder {
namespace {

bool has_fused_attention(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) {
    return n->op() == "FusedAttention" ||
           std::any_of(n->graphs.begin(), n->graphs.end(), [](const auto& body) { return has_fused_attention(*body); });
  });
}

}  // namespace

void forbid(ir::Graph& graph, const BuildConfig& config) {
  if (config.winograd && config.strassen && config.fast_exp) return;
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) forbid(*body, config);
    if (!config.winograd && n->op() == "Conv") n->attributes.set("winograd", std::int64_t{0});
    if (!config.strassen && n->op() == "MatMul") n->attributes.set("strassen", std::int64_t{0});
    if (!config.fast_exp && (n->op() == "Softmax" || n->op() == "LogSoftmax")) n->attributes.set("fast_exp", std::int64_t{0});
  }
}

void tell_of_fused_attention(const ir::Graph& graph, const BuildConfig& config) {
  if (!config.fast_exp && has_fused_attention(graph))
    Log(config.log)(Severity::warning, "attention that is one operator already keeps its fast exponential under --noFastExp");
}

}  // namespace tenfold::builder
