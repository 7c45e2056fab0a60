// The run that finds them, and what it has found before.
#include "builder/precision/overflow.h"

#include <cmath>
#include <cstring>

#include "base/log.h"
#include "builder/model/profiles.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/overflow_cache.h"
#include "builder/shared_constants.h"
#include "ops/cases.h"

namespace tenfold::builder {
namespace {

constexpr double kLargest = 65504 / 2;   // of f16, with room for inputs that go further than those tried
constexpr std::size_t kMaxNamed = 8;
constexpr std::int64_t kExamples = 4;    // of a batch that is given: all 128 images of one would take a CPU half a minute

using Inputs = InputSet;
using Magnitudes = std::map<std::string, double>;   // value -> its largest finite magnitude

double largest(const Tensor& t) {
  float magnitude = 0;
  if (t.dtype() == DType::f32)
    for (const float x : std::span(t.data<float>(), static_cast<std::size_t>(t.size())))
      if (const float a = std::fabs(x); a > magnitude && a <= std::numeric_limits<float>::max()) magnitude = a;
  return static_cast<double>(magnitude);
}

std::vector<plan::Range> fixed_at(std::vector<plan::Range> ranges, const std::map<std::string, std::int64_t>& values) {
  for (plan::Range& r : ranges)
    if (const auto at = values.find(r.symbol); at != values.end()) r.min = r.opt = r.max = at->second;
    else r.min = r.max = r.opt;
  return ranges;
}

// Extents that stand first only, in inputs: how many examples there are is all the same here.
std::map<std::string, std::int64_t> one_example(const ir::Graph& graph) {
  std::map<std::string, std::int64_t> ones;
  for (const ir::Value* v : graph.inputs)
    if (v->rank() > 1 && v->dims()[0].is_symbol()) ones[v->dims()[0].text()] = 1;
  for (const ir::Value* v : graph.inputs)
    for (std::size_t d = 0; d < v->dims().size(); ++d)
      for (const std::string& symbol : v->dims()[d].symbols())
        if (d > 0 || !v->dims()[d].is_symbol() || v->rank() == 1) ones.erase(symbol);
  return ones;
}

// The first examples of a set of inputs that holds many.
Inputs first_examples(const ir::Graph& graph, Inputs inputs) {
  const std::map<std::string, std::int64_t> batches = one_example(graph);
  for (const ir::Value* v : graph.inputs) {
    const auto at = inputs.find(v->name);
    if (at == inputs.end() || v->rank() < 2 || !batches.count(v->dims()[0].text())) continue;
    Shape shape = at->second.shape();
    if (shape.size() != v->dims().size() || shape[0] <= kExamples || at->second.dtype() == DType::string) continue;
    shape[0] = kExamples;
    Tensor some(at->second.dtype(), shape);
    std::memcpy(some.mutable_raw(), at->second.raw(), static_cast<std::size_t>(some.bytes()));
    at->second = std::move(some);
  }
  return inputs;
}

// Floats in [-1, 1]; ones are good indices, masks and types of tokens.
Inputs with_random(const ir::Graph& graph, Inputs inputs) {
  std::uint64_t seed = 1;
  for (const ir::Value* v : graph.inputs) {
    if (inputs.count(v->name)) continue;
    require(v->type.is_tensor() && v->type.ranked, ErrorKind::unsupported, "input '", v->name, "' is ", ir::text(v->type),
            ", for which no values are made up");
    Shape shape;
    for (ir::Dim d : v->dims()) shape.push_back(d.bounds(graph.box()).upper);
    if (v->dtype() == DType::string) {
      inputs[v->name] = Tensor(DType::string, shape);
      continue;
    }
    const bool floats = v->dtype() == DType::f32 || v->dtype() == DType::f64 || v->dtype() == DType::f16 || v->dtype() == DType::bf16;
    inputs[v->name] = floats ? ops::random_tensor(v->dtype(), shape, seed++) : ops::random_tensor(v->dtype(), shape, seed++, 1, 1);
  }
  return inputs;
}

// A result and what it is made of, by name.
struct Made {
  std::string result;
  std::vector<std::string> operands;
};
std::vector<Made> results_of(const ir::Graph& graph) {
  std::vector<Made> all;
  for (const auto& node : graph.nodes())
    for (const ir::Value* v : node->outputs) {
      Made& made = all.emplace_back(Made{v->name, {}});
      for (const ir::Value* in : node->inputs)
        if (in) made.operands.push_back(in->name);
    }
  return all;
}

// Runs every node of the graph by itself, on all cores.
Magnitudes run(ir::Graph graph, const std::vector<plan::Range>& ranges, const Inputs& inputs, const BuildConfig& config) {
  const std::vector<Made> made = results_of(graph);   // not the graph itself, which has its weights
  Magnitudes magnitudes;
  ObservedRuns(std::move(graph), ranges, config).run(inputs, [&magnitudes](std::string_view name, const Tensor& t) {
    double& slot = magnitudes[std::string(name)];
    slot = std::max(slot, largest(t));
  });
  for (const Made& one : made)   // results that are views of operands
    if (!magnitudes.count(one.result))
      for (const std::string& in : one.operands)
        if (magnitudes.count(in)) magnitudes[one.result] = std::max(magnitudes[one.result], magnitudes[in]);
  std::erase_if(magnitudes, [](const auto& one) { return one.second <= kLargest; });
  return magnitudes;
}

// Weights that the build has rewritten already are taken from there: in f32 they may be most of a machine's memory.
void share_weights(ir::Graph& graph, const ir::Graph& rewritten) {
  SharedConstants shared;
  ir::Graph known = rewritten.clone();
  shared.share(known), shared.share(graph);
}

Magnitudes run_at(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges, const Inputs* given,
                  const OverflowCheck& check) {
  ir::Graph graph = source.clone();
  check.rewrite(graph, ranges);
  share_weights(graph, rewritten);
  const Inputs inputs = with_random(graph, given ? *given : Inputs{});
  return run(std::move(graph), ranges, inputs, check.config);
}

bool all_known(const Magnitudes& magnitudes, const ir::Graph& graph) {
  return std::all_of(magnitudes.begin(), magnitudes.end(), [&](const auto& one) {
    return std::any_of(graph.values().begin(), graph.values().end(), [&](const auto& v) { return v->name == one.first; });
  });
}

// On random data with one example first, as that is quick; in the shapes of the build if that gives no answer.
Magnitudes search(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges, const OverflowCheck& check) {
  Magnitudes all;
  for (const auto& whole : check.config.typical_inputs) {
    const Inputs set = first_examples(source, whole);
    OptimizationProfile profile;
    for (const auto& [name, tensor] : set) profile[name] = {tensor.shape(), tensor.shape(), tensor.shape()};
    for (const auto& [name, magnitude] : run_at(source, rewritten, symbol_ranges(source, profile, {}), &set, check))
      all[name] = std::max(all[name], magnitude);
  }
  if (!check.config.typical_inputs.empty()) return all;
  const std::map<std::string, std::int64_t> one = one_example(source);
  if (!one.empty()) {
    try {
      if (Magnitudes magnitudes = run_at(source, rewritten, fixed_at(ranges, one), nullptr, check); all_known(magnitudes, rewritten))
        return magnitudes;
    } catch (const Error&) {}
  }
  return run_at(source, rewritten, fixed_at(ranges, {}), nullptr, check);
}

// Once all profiles fix a batch it is a number in the graph; a model whose branches hang on it runs only so.
Magnitudes search_in_few(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges,
                    const OverflowCheck& check) {
  if (check.open && one_example(source).empty()) {
    try {
      const auto [graph, open_ranges] = check.open();
      if (Magnitudes magnitudes = search(graph, rewritten, open_ranges, check); all_known(magnitudes, rewritten)) return magnitudes;
    } catch (const Error&) {}
  }
  return search(source, rewritten, ranges, check);
}

void report_to(BuildReport& report, const WideReport& one) {
  const auto same = [&](const WideReport& r) { return r.node == one.node; };   // in another profile
  const auto at = std::find_if(report.kept_in_f32.begin(), report.kept_in_f32.end(), same);
  if (at == report.kept_in_f32.end()) report.kept_in_f32.push_back(one);
  else at->largest = std::max(at->largest, one.largest);
}

void log_overflow(const Magnitudes& magnitudes, const ir::Graph& graph, const OverflowCheck& check) {
  const BuildConfig& config = check.config;
  const Log log(config.log);
  BuildReport unused, &report = check.report ? *check.report : unused;
  report.overflow_checked_on = config.typical_inputs.empty() ? CheckedOn::random_inputs : CheckedOn::typical_inputs;
  const char* const source = config.typical_inputs.empty() ? " on random inputs only: give real ones (--loadInputs, typical_inputs)" : "";
  std::string names;
  std::size_t count = 0;
  for (const auto& node : graph.nodes())
    for (const ir::Value* v : node->outputs)
      if (const auto at = magnitudes.find(v->name); at != magnitudes.end()) {
        report_to(report, {node->name, std::string(node->op()), at->second});
        if (++count <= kMaxNamed)
          names += cat(names.empty() ? "'" : ", '", node->name, "' (", node->op(), ", up to ", at->second, ")");
      }
  if (count > kMaxNamed) names += cat(" and ", count - kMaxNamed, " more");
  if (magnitudes.empty()) log(Severity::info, "fp16: no value came near 65504", source);
  else
    log(Severity::warning, "fp16: kept in float32, for their results come near 65504 or exceed it: ", names, *source ? "; looked" : "",
        source);
}

}  // namespace

std::set<std::string> values_beyond_f16(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges,
                                        const OverflowCheck& check) {
  try {
    OverflowCache cache(check.config.timing_cache);
    const Hash128 key = cache.used() ? overflow_key(source, ranges, check.config) : Hash128{};
    std::optional<Magnitudes> magnitudes = cache.find(key);
    const bool for_all = check.known && !check.config.typical_inputs.empty();
    if (!magnitudes && for_all && *check.known && all_known(**check.known, rewritten)) magnitudes = *check.known;
    if (!magnitudes) {
      magnitudes = search_in_few(source, rewritten, ranges, check);
      if (for_all) *check.known = magnitudes;
      cache.add(key, *magnitudes, Log(check.config.log));
    }
    if (!all_known(*magnitudes, rewritten))
      Log(check.config.log)(Severity::warning,
                            "fp16: some values beyond 65504 have no name in the plan's graph and may be computed in f16");
    log_overflow(*magnitudes, rewritten, check);
    std::set<std::string> names;
    for (const auto& [name, magnitude] : *magnitudes) names.insert(name);
    return names;
  } catch (const std::exception& e) {   // memory may be short, too: the check must not cost the build
    Log(check.config.log)(Severity::warning, "fp16: whether values exceed 65504 is not known, for the run that looks failed: ", e.what());
    return {};
  }
}

}  // namespace tenfold::builder
