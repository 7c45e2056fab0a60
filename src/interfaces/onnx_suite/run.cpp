#include "onnx_suite/run.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "onnx_import/import.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"
#include "tenfold/model_error.h"

namespace tenfold::onnx_suite {
namespace {

// What of a refusal does not depend on the case: operators and reasons, without names of files and nodes.
std::string reason(const ModelError& error) {
  std::string text;
  for (const ModelProblem& p : error.problems()) {
    const std::string one = (p.op.empty() ? "" : p.op + ": ") + p.message;
    if (text.find(one) == std::string::npos) text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

SuiteFinding as_finding(SuiteWay way, const std::function<std::string()>& judged) {
  SuiteFinding found{.way = way};
  const auto error = [&](SuiteVerdict verdict, std::string why) { found.verdict = verdict, found.why = std::move(why); };
  const auto of_kind = [](ErrorKind kind) { return kind == ErrorKind::unsupported ? SuiteVerdict::refused : SuiteVerdict::failed; };
  try {
    found.why = judged();
    if (!found.why.empty()) found.verdict = SuiteVerdict::failed, found.wrong = true;
  } catch (const ModelError& e) {
    error(of_kind(e.kind()), reason(e));
  } catch (const Error& e) {
    error(of_kind(e.kind()), e.what());
  } catch (const std::exception& e) {
    error(SuiteVerdict::failed, cat("not a Tenfold error: ", e.what()));
  }
  return found;
}

void count_steps(const Engine& engine, SuiteResult& result) {
  result.steps = result.reference_steps = 0;
  for (const PlanProgram& program : engine.inspection().programs)
    for (const PlanStep& step : program.steps) ++result.steps, result.reference_steps += step.kind == "reference";
}

// One case, whose engine is built for each set of data where a way needs one.
class CaseRun {
 public:
  CaseRun(const SuiteCase& test, const BuildConfig& config, const SuiteTolerance& tolerance, const Engines& engines, SuiteResult& result)
      : test_(test), config_(config), tolerance_(tolerance), engines_(engines), result_(result),
        graph_(onnx_import::import_file(test.model)), sets_(read_data(test, graph_)) {
    require(!sets_.empty(), ErrorKind::io, "there is no test data");
  }

  std::string judged(SuiteWay way) {
    for (std::size_t i = 0; i < sets_.size(); ++i)
      if (const std::string found = judge(test_, outputs(way, i), sets_[i].expected, tolerance_); !found.empty()) return found;
    return "";
  }

 private:
  Values outputs(SuiteWay way, std::size_t i) {
    const Values& inputs = sets_[i].inputs;
    if (way == SuiteWay::reference) return ops::run_graph(graph_, inputs);
    const Engine& built = engine_for(i);
    if (!optimized_) optimized_ = run_values(*built.create_context(), inputs);
    if (way == SuiteWay::optimized) return *optimized_;
    Values again = run_values(*engines_.load(built.serialize(), config_).create_context(), inputs);
    require(draws_numbers(test_) || same_bits(again, *optimized_), ErrorKind::internal,
            "the loaded plan gives other bits than the built one");
    return again;
  }
  const Engine& engine_for(std::size_t i) {
    if (engine_ && engine_of_ == i) return *engine_;
    BuildConfig fixed = config_;
    fixed.profiles = {profile_of(graph_, sets_[i].inputs)};
    optimized_.reset();
    engine_.reset();
    engine_ = engines_.build(test_.model, fixed);
    engine_of_ = i;
    count_steps(*engine_, result_);
    return *engine_;
  }

  const SuiteCase& test_;
  const BuildConfig& config_;
  const SuiteTolerance& tolerance_;
  const Engines& engines_;
  SuiteResult& result_;
  ir::Graph graph_;
  std::vector<DataSet> sets_;
  std::optional<Engine> engine_;
  std::size_t engine_of_ = 0;
  std::optional<Values> optimized_;
};

}  // namespace

Engines public_engines() {
  return {[](const std::string& model, const BuildConfig& config) { return build_file(model, config); },
          [](std::span<const std::byte> plan, const BuildConfig& config) {
            return Engine::load(plan, {.device = config.device, .threads = config.threads});
          }};
}

OptimizationProfile profile_of(const ir::Graph& graph, const Values& inputs) {
  OptimizationProfile profile;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& input = *graph.inputs.at(i);
    if (!input.type.is_tensor()) continue;
    const Shape& shape = inputs[i].tensor().shape();
    profile[input.name] = {shape, shape, shape};
  }
  return profile;
}

SuiteResult run_case(const SuiteCase& test, const std::vector<SuiteWay>& ways, const BuildConfig& config, const SuiteTolerance& tolerance,
                     const Engines& engines) {
  SuiteResult result;
  std::optional<CaseRun> run;
  const SuiteFinding opened = as_finding(SuiteWay::reference, [&] { return run.emplace(test, config, tolerance, engines, result), ""; });
  for (const SuiteWay way : ways) {
    result.ways.push_back(run ? as_finding(way, [&] { return run->judged(way); }) : opened);
    result.ways.back().way = way;
  }
  return result;
}

SuiteFinding run_case(const SuiteCase& test, const Runner& runner) {
  return as_finding(SuiteWay::reference, [&]() -> std::string {
    const std::vector<DataSet> sets = read_data(test, onnx_import::import_file(test.model));
    for (const DataSet& set : sets)
      if (const std::string found = judge(test, runner(test.model, set.inputs), set.expected); !found.empty()) return found;
    return sets.empty() ? "there is no test data" : "";
  });
}

}  // namespace tenfold::onnx_suite

namespace tenfold {

SuiteResult run_suite_case(const SuiteCase& test, const std::vector<SuiteWay>& ways, const BuildConfig& config,
                           const SuiteTolerance& tolerance) {
  return onnx_suite::run_case(test, ways, config, tolerance, onnx_suite::public_engines());
}

}  // namespace tenfold
