// Choosing and assembling, program by program.
#include "builder/plan_maker.h"

#include <set>

#include "base/log.h"
#include "runtime/state.h"
#include "tune/code_cache.h"
#include "tune/tuner.h"

namespace tenfold::builder {
namespace {

ir::SymbolValues opt_point(const ir::Graph& graph, const std::vector<plan::Range>& ranges) {
  ir::SymbolValues opt;
  constexpr std::int64_t kLarge = 1 << 20, kTypical = 64;
  for (const auto& [name, range] :
       all_bounds(graph))  // symbols that steps define: the largest they can be, or a guess where that says nothing
    opt[name] = range.upper <= kLarge ? range.upper : std::max(range.lower, kTypical);
  for (const plan::Range& r : ranges) opt[r.symbol] = r.opt;
  std::set<std::string> tokens;   // packed ones: all of the batch to tune for, not of the largest one
  for (const auto& n : graph.nodes())
    if (n->op() == "TokenPositions")
      for (const ir::Value* v : n->outputs)
        for (const ir::Dim d : v->dims())
          for (const std::string& symbol : d.symbols()) tokens.insert(symbol);
  for (const ir::Symbol& s : graph.symbols)
    if (tokens.count(s.name) && s.origin == ir::Origin::host_value && !s.upper.is_constant())
      opt[s.name] = std::min(opt[s.name], s.upper.evaluate(opt));
  return opt;
}

}  // namespace

PlanMaker::PlanMaker(const BuildConfig& config, const std::string& model_name, backends::Backend& backend, BuildReport& report)
    : config_(config), backend_(backend), report_(report) {
  plan_.device = backend.info();
  plan_.needs = plan_.device.features;  // tactics were chosen among all of them
  plan_.model_name = model_name;
  plan_.builder = "tenfold " TENFOLD_VERSION;
  if (!config.timing_cache.empty()) cache_ = tune::TimingCache::load(config.timing_cache, Log(config.log));
  if (backend.compiles()) backend.take_code(tune::load_code(tune::code_cache_path(config.timing_cache), Log(config.log)), false);
}

void PlanMaker::name_bindings(const ir::Graph& graph) {
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const ir::Value* v : *list) plan_.bindings.push_back({v->name, v->type, list == &graph.inputs, backends::kPlain});
}

ir::Graph PlanMaker::tracked(const ir::Graph& graph) {
  ir::Graph copy = graph.clone();
  if (config_.refittable) refit_.track(copy);
  return copy;
}

void PlanMaker::add(ir::Graph graph, const std::vector<plan::Range>& ranges) {
  Stopwatch watch;
  registry_ = &graph.registry();
  if (config_.keep_portable_graph) portable_.add(graph);  // before the tuner cuts it to this machine's measure
  std::vector<plan::Range> open;                          // ranges that are still ranges
  for (const plan::Range& r : ranges)
    if (r.min != r.max) open.push_back(r);
  tune::TuneOptions options{&config_, all_bounds(graph), opt_point(graph, ranges), &cache_, &report_};
  const tune::Choice choice = tune::choose(graph, backend_, options);
  report_.tune_s += watch.seconds();
  plan_.programs.push_back(assemble(graph, choice, constants_, {open, &backend_}, plan_.needs));
  if (plan_.bindings.empty()) name_bindings(graph);
  report_.assemble_s += watch.seconds();
}

plan::Plan PlanMaker::finish() {
  if (config_.keep_portable_graph) plan_.portable = portable_.text(plan_, constants_, backend_, Log(config_.log));
  if (old_refit_ && !old_refit_->weights.empty()) plan_.refit = rebase(*old_refit_, constants_.origins(), *registry_);
  else if (config_.refittable) plan_.refit = refit_.write(constants_.origins(), *registry_);
  constants_.move_into(plan_);
  if (!config_.timing_cache.empty()) cache_.save(config_.timing_cache, Log(config_.log));
  return std::move(plan_);
}

Engine open_built(plan::Plan plan, const BuildConfig& config, std::shared_ptr<backends::Backend> backend) {
  LoadOptions options{.cpu_features = config.cpu_features, .threads = config.threads, .plugins = config.plugins, .log = config.log};
  backends::Backend& device = *backend;
  Engine engine(runtime::open_engine(std::move(plan), options, std::move(backend)));
  // Now, for opening compiles too: what the tuner took from its cache without timing.
  if (device.compiles()) tune::save_code(tune::code_cache_path(config.timing_cache), device.code(), Log(config.log));
  return engine;
}

}  // namespace tenfold::builder
