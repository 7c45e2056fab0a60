#include "builder/quantize/within_error.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/log.h"
#include "builder/budget/expect_budget.h"
#include "builder/budget/first_within.h"
#include "builder/budget/judge.h"

namespace tenfold::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSteering = 4;   // samples that tell what a product costs by itself

class Search {
 public:
  Search(const ir::Graph& source, const BuildConfig& config, const std::vector<FileProduct>& products, const std::string& type,
         const std::function<Engine(const Places&)>& engine_with, BudgetReport& report)
      : source_(source), config_(config), products_(products), type_(type), engine_with_(engine_with), report_(report),
        checks_(source, config, 1, config.calibration->samples) {
    require(checks_.samples() > 0, ErrorKind::invalid_argument,
            "a budget needs at least two samples: samples 1, 3, 5 and so on show the error");
    report_.samples = checks_.samples();
  }

  Places run() {
    if (within(0)) return taken(0);
    measure_alone();
    // None narrow is the file as it was, and all narrow is known not to do.
    const auto search = [&] {
      return first_within(
          products_.size() - 1, predicted() - 1, [&](std::size_t i) { return within(i + 1); }, [&] { return go_on(); });
    };
    const std::size_t max = products_.empty() ? 0 : 1 + search();   // a user's metric may find fault with a file that is the model
    require(max < products_.size(), ErrorKind::unsupported, "has no GEMM or convolution that can be quantized within an error of ",
            bounds(), report_.plans.empty() ? "" : cat(": with all of them it is ", report_.plans.front().error));
    return taken(max);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
  bool go_on() {
    if (seconds() < config_.budget->search_seconds) return true;
    return !(report_.out_of_time = true);
  }
  std::string bounds() const {
    std::string text = cat(config_.budget->max_error);
    for (const auto& [output, bound] : config_.budget->outputs) text += cat(", ", output, ":", bound);
    return text + " (" + config_.budget->metric + ")";
  }

  // The first of order_ stay in floats.
  Places in_floats(std::size_t count) const {
    Places places;
    for (std::size_t i = 0; i < count; ++i) places.insert(products_[order_[i]].place);
    return places;
  }
  bool within(std::size_t count) {
    const Judged judged = checks_.judge(engine_with_(in_floats(count)));
    BudgetPlan plan{.name = count == 0 ? type_ : cat(count, " of ", products_.size(), " layers in floats")};
    const double unit = config_.budget->max_error;
    plan.error = judged.share * unit, plan.low = judged.low * unit, plan.high = judged.high * unit, plan.within = judged.within();
    report_.plans.push_back(plan), counts_.push_back(count);
    Log(config_.log)(Severity::info, plan.name, ": error ", plan.error, plan.within ? "" : ", over the budget");
    return plan.within;
  }

  void measure_alone() {
    const Judge steers(source_, config_, 0, kSteering);
    Places all;
    for (const FileProduct& p : products_) all.insert(p.place);
    std::vector<double>& shares = alone_;
    double largest = 0;
    for (const FileProduct& p : products_) {
      if (go_on()) {
        Places others = all;
        others.erase(p.place);
        largest = std::max(largest, shares.emplace_back(steers.judge(engine_with_(others)).share));
      } else {
        shares.push_back(largest);
      }
      report_.layers.push_back({.layer = p.name, .op = p.op, .error = shares.back() * config_.budget->max_error});
    }
    for (std::size_t i = 0; i < products_.size(); ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  }

  // How many in floats are within the budget, if squares of errors add up to what that of all narrow products is: at least one, and not
  // all.
  std::size_t predicted() const {
    double all = 0, left = 0;
    for (const double share : alone_) all += share * share;
    const double of_all = report_.plans.front().error / config_.budget->max_error;
    std::size_t count = products_.size();
    while (count > 1 && of_all * of_all * left <= all) --count, left += alone_[order_[count]] * alone_[order_[count]];
    return std::clamp<std::size_t>(count + 1, 1, std::max<std::size_t>(products_.size() - 1, 1));
  }

  Places taken(std::size_t count) {
    for (std::size_t i = 0; i < counts_.size(); ++i) report_.plans[i].taken = counts_[i] == count;
    for (std::size_t i = 0; i < count; ++i) report_.layers[order_[i]].wide = true;
    report_.met = true, report_.seconds = seconds();
    return in_floats(count);
  }

  const ir::Graph& source_;
  const BuildConfig& config_;
  const std::vector<FileProduct>& products_;
  const std::string& type_;
  const std::function<Engine(const Places&)>& engine_with_;
  BudgetReport& report_;
  const Judge checks_;
  const Clock::time_point begun_ = Clock::now();
  std::vector<double> alone_;         // of products: the error where they alone are narrow, as a share of its bound
  std::vector<std::size_t> order_;    // of products: the costliest first
  std::vector<std::size_t> counts_;   // of report_.plans: how many are in floats
};

}  // namespace

Places kept_in_floats(const ir::Graph& source, const BuildConfig& config, const std::vector<FileProduct>& products, const std::string& type,
                      const std::function<Engine(const Places& in_floats)>& engine_with, BudgetReport& report) {
  expect_budget(source, config);
  return Search(source, config, products, type, engine_with, report).run();
}

}  // namespace tenfold::builder
