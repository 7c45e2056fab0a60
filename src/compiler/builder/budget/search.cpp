// The search. Plans of one type for all come first: they are candidates, and tell what each layer takes in each type. Then mixed ones, in
// the order of their predicted time: a bisection finds the fastest whose measured error is within the budget, and at last single layers
// become narrower again (Shoham and Gersho 1988; HAWQ-V3, Yao et al. 2021). Predictions order the candidates. What decides, and what is
// told, was measured on finished plans.
#include "builder/budget/search.h"

#include <algorithm>
#include <cmath>

#include "backends/device_traits.h"
#include "base/check.h"
#include "base/log.h"
#include "builder/budget/expect_budget.h"
#include "builder/budget/first_within.h"
#include "builder/budget/mixes.h"
#include "builder/budget/sensitivity.h"
#include "builder/budget/trials.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

class Search {
 public:
  Search(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make)
      : trials_(source, config, device, make), config_(config), all_(trials_.layers) {}

  Engine run(BuildReport& report) {
    if (std::optional<Made> known = trials_.remembered()) return handed_over(report, std::move(*known));
    trials_.begin();
    consider_single("everything permitted", {Recipe::everything});
    if (config_.calibration->cache.empty()) trials_.records.add_ranges(trials_.findings);
    if (const DType other = other_bytes(); other != DType::f32 && trials_.has_time())
      consider_single(cat("everything permitted, ", name(other)), {Recipe::everything, bytes_as(other)});
    if (trials_.has_time()) consider_single("", {Recipe::no_bytes});
    if (last_type_ != DType::f32 && trials_.has_time()) consider_single("fp32", {Recipe::floats});
    if (trials_.has_time()) mix();
    if (!trials_.best) take_floats();
    trials_.choose_final();
    trials_.report_unfused();
    report_layers();
    trials_.reported.met = trials_.best->plan.within;
    trials_.remember();
    return handed_over(report, std::move(*trials_.best));
  }

 private:
  void consider_single(std::string name, const Recipe& recipe) {
    trials_.consider(std::move(name), recipe, false, [this](const Made& made) { learn(made); });
  }
  // The further 8 bits that a calibration permits; f32: there are none that the device multiplies.
  DType other_bytes() const {
    const std::vector<DType> types = passes::calibrated_types(trials_.device, config_);
    return types.size() > 1 ? types.back() : DType::f32;
  }
  // All layers that have the usual 8 bits, in these.
  std::vector<LayerPrecision> bytes_as(DType type) const {
    std::vector<DType> types = types_in(singles_.front());
    for (DType& own : types)
      if (bits(own) == bits(type)) own = type;
    return precisions_for(all_, types, usual_, true);
  }
  // What each layer takes in the type that a plan of one type gives it. The tuner's times are brought to the measured one of the whole;
  // where nothing was timed the multiplications share it.
  void learn(const Made& made) {
    double tuned = 0, multiplications = 0;
    for (const auto& [layer, ms] : made.computed.milliseconds) tuned += ms;
    for (const Layer& layer : all_.list) multiplications += layer.multiplications;
    for (Layer& layer : all_.list) {
      const auto type = made.computed.types.find(layer.name);
      if (type == made.computed.types.end()) continue;
      const auto own = made.computed.milliseconds.find(layer.name);
      const double share = tuned > 0 ? (own == made.computed.milliseconds.end() ? 0 : own->second / tuned)
                                     : layer.multiplications / std::max(multiplications, 1.0);
      if (!layer.milliseconds.emplace(type->second, share * made.plan.milliseconds).second) continue;
      layer.types.push_back(type->second);
      std::stable_sort(layer.types.begin(), layer.types.end(), [](DType a, DType b) { return bits(a) < bits(b); });
    }
    last_type_ = wide_type_of(made.computed);
    if (usual_.empty()) usual_ = made.computed.types, error_of_all_ = made.plan.error;
    singles_.push_back(made.computed), singles_within_.push_back(made.plan.within);
  }

  void take_floats() {
    if (!trials_.consider("fp32 without rounding", {Recipe::exact_floats}, true))
      Log(config_.log)(Severity::warning, "no plan is within the error budget, not even one of f32 (", trials_.reported.plans.back().error,
                       "): it is taken");
    else
      Log(config_.log)(Severity::warning, "nothing narrower than f32 is within the error budget: the plan is one of f32");
  }

  // Some layers wider than others.
  void mix() {
    const auto has_choice = [](const Layer& layer) { return layer.types.size() > 1; };
    if (std::none_of(all_.list.begin(), all_.list.end(), has_choice)) return;
    for (Layer& layer : all_.list)
      if (layer.types.empty()) layer.types.push_back(DType::f32);   // no step of a finished plan computes it
    for (std::size_t i = 0; i < singles_.size(); ++i) tried_[types_in(singles_[i])] = singles_within_[i];
    if (!trials_.records.find_alone(all_)) {
      static const quant::Ranges none;
      const quant::Placing placing = passes::placing_for(trials_.device, config_);
      const Findings& found = trials_.findings;
      measure_alone(all_, {trials_.source, *found.rewritten, found.ranges ? *found.ranges : none, placing, config_},
                    [this](int done, int total) { return trials_.report_progress(done, total), trials_.has_time(); });
      if (trials_.has_time()) trials_.records.add_alone(all_);
    }
    problem_ = problem_of(all_, backends::traits_of(trials_.device).launches);
    const std::vector<Allocation> line = frontier(problem_);
    const std::size_t fastest = first_within(line);
    if (fastest > 0 && fastest < line.size()) first_within(between(line[fastest - 1], line[fastest]));
    if (fastest < line.size()) exchange(states_of(types_in(trials_.best->computed)));
  }
  std::vector<DType> types_in(const Computed& computed) const {
    std::vector<DType> types;
    for (const Layer& layer : all_.list) {
      const auto at = computed.types.find(layer.name);
      const DType usual = layer.types.empty() ? DType::f32 : layer.types.front();   // no step computes it, or it is not known yet
      types.push_back(at == computed.types.end() ? usual : at->second);
    }
    return types;
  }
  Allocation states_of(const std::vector<DType>& types) const {
    Allocation states;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::vector<DType>& own = all_.list[i].types;
      const auto at = std::find(own.begin(), own.end(), types[i]);
      states.push_back(at == own.end() ? 0 : static_cast<int>(at - own.begin()));
    }
    return states;
  }
  bool consider_mix(const Allocation& states) {
    const std::vector<DType> types = types_of(all_, states);
    if (const auto before = tried_.find(types); before != tried_.end()) return before->second;
    return tried_[types] = trials_.consider(name_of(all_, types), {Recipe::everything, precisions_for(all_, types, usual_)});
  }
  // Predicted errors are brought to that of everything permitted, for they do not add up.
  double predicted(const Allocation& states) const {
    const double of_all = error_of(problem_, states_of(types_in(singles_.front())));
    return error_of(problem_, states) * (of_all > 0 && std::isfinite(error_of_all_) ? error_of_all_ / of_all : 1);
  }
  // The first that is, measured; their number if none is. It begins with the one that is predicted.
  std::size_t first_within(const std::vector<Allocation>& line) {
    std::size_t guess = 0;
    while (guess + 1 < line.size() && predicted(line[guess]) > config_.budget->max_error) ++guess;
    return builder::first_within(
        line.size(), guess, [&](std::size_t i) { return consider_mix(line[i]); }, [&] { return trials_.has_time(); });
  }
  // From the faster of two neighbors on the frontier to the slower: those layers change first that lose least time for their error. What
  // lies between is no best allocation for any lambda, but may fit the budget better.
  std::vector<Allocation> between(const Allocation& quick, const Allocation& slow) const {
    std::vector<std::pair<double, std::size_t>> moves;
    for (std::size_t i = 0; i < quick.size(); ++i) {
      if (quick[i] == slow[i]) continue;
      Allocation moved = slow;
      moved[i] = quick[i];
      const double won = milliseconds_of(problem_, slow) - milliseconds_of(problem_, moved);
      moves.emplace_back(won / std::max(error_of(problem_, moved) - error_of(problem_, slow), 1e-12), i);
    }
    std::sort(moves.rbegin(), moves.rend());
    std::vector<Allocation> path;
    Allocation states = slow;
    for (std::size_t m = 0; m + 1 < moves.size(); ++m) states[moves[m].second] = quick[moves[m].second], path.insert(path.begin(), states);
    return path;
  }
  // Single layers in another type: first those that win most time for their error, then those that win nothing by a prediction that may
  // be wrong. What is within the budget and faster, measured, is where the next one starts.
  void exchange(Allocation states) {
    struct Move { std::size_t layer; int state; double won, rate; };
    std::vector<Move> moves;
    const double before = milliseconds_of(problem_, states), error = error_of(problem_, states), bound = config_.budget->max_error;
    const double scale = error > 0 ? trials_.best->plan.error / error : 0;   // from predicted errors to measured ones, near the best plan
    for (std::size_t i = 0; i < states.size(); ++i)
      for (int state = 0; state < static_cast<int>(problem_.layers[i].size()); ++state) {
        Allocation moved = states;
        moved[i] = state;
        const double won = before - milliseconds_of(problem_, moved), more = std::max(error_of(problem_, moved) - error, 1e-12);
        const double expected = scale > 0 ? error_of(problem_, moved) * scale : predicted(moved);
        if (state == states[i] || won < -kDoubtful * before || expected > kHopeful * bound) continue;
        moves.push_back({i, state, won, won > 0 ? won / more : won});
      }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return (a.won > 0) != (b.won > 0) ? a.won > 0 : a.rate > b.rate;
    });
    const std::size_t max = states.size() > kManyLayers ? kMaxExchanges / 2 : kMaxExchanges;   // plans of many layers take longer
    if (moves.size() > max) moves.resize(max);
    for (const Move& move : moves) {
      if (!trials_.has_time()) return;
      Allocation moved = states;
      moved[move.layer] = move.state;
      if (consider_mix(moved) && types_in(trials_.best->computed) == types_of(all_, moved)) states = std::move(moved);
    }
  }

  void report_layers() {
    for (const Layer& layer : all_.list) {
      if (layer.types.size() < 2) continue;
      const DType narrow = layer.types.front(), wide = layer.types.back();
      const auto own = trials_.best->computed.types.find(layer.name);
      const DType type = own == trials_.best->computed.types.end() ? DType::f32 : own->second;
      const auto error = layer.error.find(narrow);
      trials_.reported.layers.push_back({.layer = layer.name,
                                     .op = layer.op,
                                     .error = error == layer.error.end() ? 0 : error->second,
                                     .saved_milliseconds = layer.milliseconds.at(wide) - layer.milliseconds.at(narrow),
                                     .wide = bits(type) > bits(narrow),
                                     .type = type,
                                     .advice = advice_on(layer, type, config_.budget->max_error)});
    }
  }
  Engine handed_over(BuildReport& report, Made made) {
    trials_.reported.seconds = trials_.seconds();
    BuildReport& best = made.report;
    best.notes.insert(best.notes.begin(), report.notes.begin(), report.notes.end());
    best.device_s = report.device_s, best.import_s = report.import_s;
    report = std::move(best), report.budget = std::move(trials_.reported);
    return std::move(made.engine);
  }

  static constexpr std::size_t kMaxExchanges = 8, kManyLayers = 16;
  static constexpr double kDoubtful = 0.05;  // predicted times that are longer by less may be shorter
  static constexpr double kHopeful = 1.02;   // expected errors up to so many budgets are tried

  Trials trials_;
  const BuildConfig& config_;
  Layers& all_;
  DType last_type_ = DType::f32;       // the 16 bits that the last plan of one type has, if it has any
  std::map<std::string, DType> usual_; // of layers, where everything is permitted
  double error_of_all_ = 0;            // there
  std::vector<Computed> singles_;      // by plans of one type for all
  std::vector<bool> singles_within_;
  AllocationProblem problem_;
  std::map<std::vector<DType>, bool> tried_;   // types of all layers, and whether they were within the budget
};

}  // namespace

Engine engine_within_budget(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make,
                            BuildReport& report) {
  expect_budget(source, config);
  return Search(source, config, device, make).run(report);
}

}  // namespace tenfold::builder
