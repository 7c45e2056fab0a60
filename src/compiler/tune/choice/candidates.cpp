// Asking every tactic about a node's problem, and timing those that say yes.
#include "tune/choice/candidates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "tune/choice/node_problem.h"

namespace tenfold::tune {
namespace {

// What a reference kernel costs when it is not timed: enough to be chosen only when nothing else can run the node.
constexpr double kReferenceNsPerElement = 200;

double elements_at(const ir::Value& v, const ir::SymbolValues& point) {
  double n = 1;
  for (ir::Dim d : v.dims()) n *= static_cast<double>(d.evaluate(point));
  return n;
}

// Of each tactic and layout, the best guesses first.
int max_configs(const BuildConfig& config) {
  static constexpr int kByLevel[] = {1, 1, 4, 8, 64, 64};
  return kByLevel[std::clamp(config.optimization_level, 0, 5)];
}

// Of one worker: a plan may run with any number of them.
std::int64_t required_workspace(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config) {
  const auto bytes = [&](auto function) { return function ? function(fixed, config).evaluate({}) : 0; };
  return bytes(tactic.workspace) + bytes(tactic.worker_scratch);
}

// Scratch is set aside for each worker when a context is made, so it needs a bound that holds over the whole box.
bool scratch_fits(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config) {
  return !tactic.worker_scratch || problem.bounds(tactic.worker_scratch(problem, config)).upper <=
                                       std::min<std::int64_t>(problem.workspace_limit, std::int64_t{1} << 32);
}

}  // namespace

bool workspace_fits(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config,
                    const ir::SymbolValues& point) {
  const backends::Problem fixed = at_point(problem, point);
  return fixed.workspace_limit >= required_workspace(tactic, fixed, config) && scratch_fits(tactic, problem, config);
}

namespace {

std::string roofline_text(const MinTime& min_time, std::int64_t best_ns) {
  return cat("not timed: ", min_time.bytes ? "the bytes it moves take" : "its work takes", " at least ", std::llround(min_time.ns / 1000),
             " us, to be best it has to take less than ", best_ns / 1000, " us");
}

}  // namespace

Candidates::Candidates(backends::Backend& backend, const backends::TacticSet& tactics, Timer& timer, const TuneOptions& options)
    : backend_(backend), tactics_(tactics), timer_(timer), options_(options), roofline_(backend, timer) {}

std::int64_t Candidates::reformat_cost(const ir::Value& value) const {
  return static_cast<std::int64_t>(
      backend_.timing().reformat_ns(static_cast<std::int64_t>(elements_at(value, options_.opt) * bits(value.dtype()) / 4)));
}

// What a CPU never rounds: it gains nothing worth having there, and small models answer to all digits. By bytes alone, so that threads
// do not decide. Random choices are for tests, which want every tactic on graphs as small as they grow them.
bool Candidates::is_small(const ir::Node& node) const {
  constexpr double kBytes = 64 << 10;
  if (!backend_.memory().host_reads() || options_.config->random_choices) return false;
  double bytes = 0;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ir::Value* v : *list) bytes += v ? elements_at(*v, options_.opt) * bits(v->dtype()) / 8 : 0;
  return bytes < kBytes;
}

// Nothing to compute on a CPU: no tactic has to choose blocks of nothing.
bool Candidates::is_empty(const ir::Node& node) const {
  if (!backend_.memory().host_reads() || !node.def->reference || node.body) return false;
  const auto nothing = [&](const ir::Value* v) { return !v || elements_at(*v, options_.opt) == 0; };
  return std::all_of(node.outputs.begin(), node.outputs.end(), nothing);
}

bool Candidates::source_allowed(backends::Source source) const {
  if (source == backends::Source::plugin) return true;
  const auto bit = [&] {
    switch (source) {
      case backends::Source::native: return TacticSource::native;
      case backends::Source::onednn: return TacticSource::onednn;
      case backends::Source::cublas_lt: return TacticSource::cublas_lt;
      case backends::Source::cudnn: return TacticSource::cudnn;
      default: return TacticSource::reference;
    }
  }();
  return options_.config->tactic_sources & static_cast<std::uint32_t>(bit);
}

bool Candidates::forced_away(const std::string& line, const std::string& tactic) const {
  for (const auto& [prefix, requested] : options_.config->forced_tactics)
    if (line.starts_with(prefix)) return requested != tactic;
  return false;
}

std::vector<backends::Formats> Candidates::formats_of(const backends::Tactic& tactic, const backends::Problem& plain) const {
  if (!tactic.formats)
    return {backends::Formats{std::vector<backends::Layout>(plain.in.size()), std::vector<backends::Layout>(plain.out.size())}};
  return tactic.formats(plain);
}

backends::Problem Candidates::problem_of(const ir::Node& node, const backends::Formats* formats) const {
  return node_problem(node, formats, options_.box, backend_.info(), options_.config->workspace_bytes);
}

// In some layout.
bool Candidates::runs(const backends::Tactic& tactic, const ir::Node& node) const {
  for (const backends::Formats& formats : formats_of(tactic, problem_of(node, nullptr)))
    if (tactic.supports(problem_of(node, &formats))) return true;
  return false;
}

// Tactics that could be fastest go first, so that the others need not be timed where they cannot be.
std::vector<const backends::Tactic*> Candidates::by_min_time(const ir::Node& node) {
  std::vector<const backends::Tactic*> all = tactics_.of(*node.def);
  if (!timing()) return all;
  std::map<const backends::Tactic*, double> min_time;
  for (const backends::Tactic* t : all) {
    if (!t->work || !source_allowed(t->source)) continue;  // a library that is left out is not asked: asking opens it
    const std::vector<backends::Formats> formats = formats_of(*t, problem_of(node, nullptr));
    if (!formats.empty()) min_time[t] = min_of(*t, problem_of(node, &formats[0])).ns;
  }
  std::stable_sort(all.begin(), all.end(), [&](const auto* a, const auto* b) { return min_time[a] < min_time[b]; });
  return all;
}

MinTime Candidates::min_of(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config* config) {
  if (!timing() || !tactic.work || !tactic.supports(problem)) return {};
  return roofline_.min_time(tactic, at_point(problem, options_.opt), config ? *config : tactic.configs(problem).at(0));
}

bool Candidates::may_reach(const ir::Node& anchor, const ir::Node& fused, std::int64_t limit) {
  const backends::Problem plain = problem_of(anchor, nullptr);
  if (!timing() || known_.count(plain.line()) || !agrees_at(anchor, options_.opt)) return true;
  if (options_.config->max_tactics > 0) return true;   // what is timed here would come on top of as many
  for (const backends::Tactic* t : tactics_.of(*anchor.def))
    if (source_allowed(t->source) && runs(*t, anchor) && !runs(*t, fused)) return true;
  StepReport report{anchor.name, plain.line(), {}};
  const auto allowed = static_cast<double>(limit);
  for (const Candidate& c : of(fused)) {
    const backends::Tactic* tactic = c.choice.tactic;
    if (!tactic) continue;
    backends::Formats formats = c.choice.formats;
    formats.in.resize(plain.in.size());
    const backends::Problem problem = problem_of(anchor, &formats);
    if (!tactic->supports(problem) || (tactic->valid && !tactic->valid(problem, c.choice.config))) return true;
    const MinTime min_time = min_of(*tactic, problem, &c.choice.config);
    const bool hopeless = limit <= 0 || min_time.ns > allowed;
    const double ns = hopeless ? -1 : timer_.time(*tactic, at_point(problem, options_.opt), c.choice.config, allowed);
    constexpr double kNear = 1.06;  // between the configuration that won with the epilogue and the best one without
    if (!hopeless && ns < kNear * allowed) return true;
    std::string why = limit <= 0 ? "not timed: its epilogue apart takes too long already" : hopeless ? roofline_text(min_time, limit) : "";
    report.tried.push_back({tactic->name, config_text(c.choice.config, c.choice.formats), std::move(why), ns, false});
  }
  report.tried.push_back(
      {"others", "", cat("not timed: a cut pays only below ", std::max<std::int64_t>(limit, 0) / 1000, " us"), -1, false});
  if (options_.report) options_.report->steps.push_back(std::move(report));
  return false;
}

const std::vector<Candidate>& Candidates::of(const ir::Node& node) {
  const backends::Problem problem = problem_of(node, nullptr);
  auto [it, fresh] = known_.try_emplace(problem.line());
  std::vector<Candidate>& found = it->second;
  StepReport report{node.name, it->first, {}};
  if (fresh) {
    all_.clear();
    const bool decides_sizes = sizes_depend_on_data(node), agrees = !timing() || agrees_at(node, options_.opt), empty = is_empty(node);
    for (const backends::Tactic* tactic : empty ? tactics_.of(*node.def) : by_min_time(node)) {
      if (decides_sizes) report.tried.push_back({tactic->name, "", "the size of the result depends on data", -1, false});
      else if (!agrees)
        report.tried.push_back({tactic->name, "", "extents disagree at the sizes to tune for", -1, false});
      else if (empty) report.tried.push_back({tactic->name, "", "the result has no elements", -1, false});
      else if (!source_allowed(tactic->source)) report.tried.push_back({tactic->name, "", "its source is switched off", -1, false});
      else if (tactic->rounds_f32 && !problem.numerics.allows(ir::Rounding::tf32))
        report.tried.push_back(
            {tactic->name, "", "TF32 is not allowed here: drop --noTF32, or set tf32_convolutions, tf32_matmul", -1, false});
      else if (tactic->rounds_f32 && is_small(node))
        report.tried.push_back({tactic->name, "", "it rounds to TF32, which gains nothing on a problem under 64 KiB", -1, false});
      else if (forced_away(it->first, tactic->name)) report.tried.push_back({tactic->name, "", "another tactic is forced", -1, false});
      else add(node, *tactic, found, report);
    }
    const bool has_reference = node.def->reference && !node.body;
    if (has_reference || node.def->traits.region || found.empty()) {
      const double cost = 1e5 + kReferenceNsPerElement * elements_at(*node.outputs[0], options_.opt);
      if (found.empty() || options_.config->random_choices)
        found.push_back(
            {{nullptr, {}, {std::vector<backends::Layout>(node.inputs.size()), std::vector<backends::Layout>(node.outputs.size())}},
             static_cast<std::int64_t>(cost)});
      report.tried.push_back({"reference", "", "host fallback, not timed", -1, false});
    }
    if (options_.config->choose_tactic && !all_.empty()) call_chooser(node, it->first, found);
    if (options_.report) options_.report->steps.push_back(std::move(report));
  }
  return found;
}

const std::vector<Candidate>& Candidates::timed(const ir::Node& node) const {
  static const std::vector<Candidate> none;
  const auto at = timed_.find(problem_of(node, nullptr).line());
  return at == timed_.end() ? none : at->second;
}

// The caller's callback may leave one candidate of all.
void Candidates::call_chooser(const ir::Node& node, const std::string& line, std::vector<Candidate>& found) {
  std::vector<TacticCandidate> reported;
  for (const Candidate& c : all_)
    reported.push_back({c.choice.tactic->name, config_text(c.choice.config, c.choice.formats),
                    options_.config->optimization_level > 0 ? static_cast<double>(c.nanoseconds) : -1});
  const int chosen = options_.config->choose_tactic({node.name, line, reported});
  require(chosen >= -1 && chosen < static_cast<int>(all_.size()), ErrorKind::invalid_argument, "choose_tactic() answers ", chosen, " for ",
          line, ", which has ", all_.size(), " candidates");
  if (chosen >= 0) found = {all_[static_cast<std::size_t>(chosen)]};
  all_.clear();
}

void Candidates::add(const ir::Node& node, const backends::Tactic& tactic, std::vector<Candidate>& found, StepReport& report) {
  const backends::Problem plain = problem_of(node, nullptr);
  for (const backends::Formats& formats : formats_of(tactic, plain)) {
    check(formats.in.size() == plain.in.size() && formats.out.size() == plain.out.size(), "tactic '", tactic.name,
          "' names too few layouts");
    const backends::Problem problem = problem_of(node, &formats);
    const backends::Verdict verdict = tactic.supports(problem);
    if (!verdict) {
      report.tried.push_back({tactic.name, "", verdict.reason, -1, false});
      continue;
    }
    time_configs(node, tactic, formats, found, report);
  }
}

// Are as many candidates of a problem timed as the caller allows?
bool Candidates::is_capped(const StepReport& report) const {
  const auto was_timed = [](const TacticReport& t) { return t.nanoseconds >= 0; };
  return timing() && options_.config->max_tactics > 0 &&
         std::count_if(report.tried.begin(), report.tried.end(), was_timed) >= options_.config->max_tactics;
}

void Candidates::time_configs(const ir::Node& node, const backends::Tactic& tactic, const backends::Formats& formats,
                              std::vector<Candidate>& found, StepReport& report) {
  const backends::Problem problem = problem_of(node, &formats);
  const backends::Problem fixed = at_point(problem, options_.opt);
  Candidate* slot = nullptr;
  for (Candidate& c : found)
    if (c.choice.formats.in == formats.in && c.choice.formats.out == formats.out) slot = &c;
  int left = max_configs(*options_.config);
  for (const backends::Config& config : tactic.configs(problem)) {
    if (left-- <= 0) break;
    if (is_capped(report)) {
      report.tried.push_back({tactic.name, config_text(config, formats), "not timed: as many are as max_tactics says", -1, false});
      break;
    }
    if (!workspace_fits(tactic, problem, config, options_.opt)) {
      report.tried.push_back({tactic.name, config_text(config, formats), "needs more workspace than the limit", -1, false});
      continue;
    }
    const bool has_chooser = options_.config->choose_tactic != nullptr;   // then all are timed
    const MinTime min_time = has_chooser ? MinTime{} : min_of(tactic, problem, &config);
    if (slot && min_time.ns > static_cast<double>(slot->nanoseconds)) {
      report.tried.push_back({tactic.name, config_text(config, formats), roofline_text(min_time, slot->nanoseconds), -1, false});
      continue;
    }
    double ns = 1;   // level 0: the first that fits
    if (options_.config->optimization_level > 0 || options_.config->random_choices)
      ns = timer_.time(tactic, fixed, config, slot ? static_cast<double>(slot->nanoseconds) : 0);
    if (ns >= kCannotRun) {
      const char* const why = "it could not be opened here, found no memory for its workspace, or failed when it was tried";
      report.tried.push_back({tactic.name, config_text(config, formats), why, -1, false});
      continue;
    }
    if (timing() && tactic.work) roofline_.learn(tactic, fixed, config, ns);
    report.tried.push_back({tactic.name, config_text(config, formats), "", ns, false});
    const auto nanoseconds = static_cast<std::int64_t>(ns);
    if (has_chooser) all_.push_back({{&tactic, config, formats}, nanoseconds});
    else timed_[report.problem].push_back({{&tactic, config, formats}, nanoseconds});
    if (!slot) {
      found.push_back({{&tactic, config, formats}, nanoseconds});
      slot = &found.back();
    } else if (nanoseconds < slot->nanoseconds) {   // ties keep the first: tactics and configs come in a fixed order
      slot->choice = {&tactic, config, formats};
      slot->nanoseconds = nanoseconds;
    }
  }
}

}  // namespace tenfold::tune
