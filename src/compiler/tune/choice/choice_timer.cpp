// Times of single choices, under the conditions of a walk over the graph.
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/threads/cpu_count.h"
#include "tune/choice/candidates.h"
#include "tune/choice/node_problem.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

void add_constants(const ir::Graph& graph, std::unordered_map<const ir::Constant*, std::int64_t>& bytes) {
  for (const auto& n : graph.nodes()) {
    for (const ir::Value* v : n->inputs)
      if (v && v->is_constant()) bytes[v->constant.get()] = v->constant->tensor.bytes();
    for (const auto& g : n->graphs) add_constants(*g, bytes);
  }
}

}  // namespace

// Of the last cache a fair share counts: that of a large server holds many models, and is slow to read. A virtual machine shows all of it
// beside a few of the CPUs that share it, so none counts for more than servers have for each of theirs.
bool weights_leave_caches(const ir::Graph& graph, const backends::DeviceInfo& device, int threads) {
  std::unordered_map<const ir::Constant*, std::int64_t> bytes;
  add_constants(graph, bytes);
  std::int64_t sum = 0;
  for (const auto& [constant, size] : bytes) sum += size;
  constexpr std::int64_t kMaxOfCpu = 4 << 20;
  const std::int64_t share = std::min<std::int64_t>(device.l3_bytes / machine_cpus(), kMaxOfCpu) * std::max(threads, 1);
  return sum > std::min(share, device.l3_bytes / 2);
}

ChoiceTimer::ChoiceTimer(const ir::Graph& graph, backends::Backend& backend, const TuneOptions& options)
    : backend_(backend), options_(options) {
  const bool cold = weights_leave_caches(graph, backend.info(), options.config->threads);
  clock_ = options.config->random_choices ? random_timer(options.config->random_choices) : clock_timer(backend, *options.config, cold);
  cached_ = cached_timer(*clock_, backend.info(), options, cold);
  second_ = cached_timer(*clock_, backend.info(), options, cold, "second time");
}
ChoiceTimer::~ChoiceTimer() = default;

double ChoiceTimer::time(const ir::Node& node, const NodeChoice& choice, Timer& timer) {
  const std::int64_t workspace = options_.config->workspace_bytes;
  const backends::Problem problem = node_problem(node, &choice.formats, options_.box, backend_.info(), workspace);
  if (!choice.tactic->supports(problem) || !workspace_fits(*choice.tactic, problem, choice.config, options_.opt)) return kCannotRun;
  return timer.time(*choice.tactic, at_point(problem, options_.opt), choice.config, 0);
}

}  // namespace tenfold::tune
