// The rate is measured on a product that leaves nothing to wish for: constant, square, its panels in the second cache.
#include "tune/roofline.h"

#include <algorithm>

#include "ir/op_def.h"

namespace tenfold::tune {
namespace {

constexpr double kMargin = 1.25;        // no product of a model has run this much faster than the square one
constexpr double kWorthAsking = 1e6;    // operations; less is timed sooner than doubted

// Products in narrower types have other rates, which tiles of AMX raise again.
bool in_plain_floats(const backends::Problem& p) {
  return (!p.attributes || !p.attributes->has("precision")) &&
         std::all_of(p.in.begin(), p.in.end(), [](const backends::OperandDesc& d) { return d.missing || d.dtype == DType::f32; });
}

}  // namespace

double Roofline::least_ns(const backends::Tactic& tactic, const backends::Problem& fixed) {
  if (backend_.info().kind != "cpu" || !tactic.work || !in_plain_floats(fixed)) return 0;
  const double work = tactic.work(fixed);
  if (work < kWorthAsking) return 0;
  const double rate = operations_per_ns();
  return rate > 0 ? work / (kMargin * rate) : 0;
}

double Roofline::operations_per_ns() {
  if (rate_) return *rate_;
  rate_ = 0;
  constexpr std::int64_t kSide = 768;
  const ir::OpDef& op = ir::Registry::builtin().get("MatMul");
  const ir::Attributes none{};
  const backends::OperandDesc square{.dtype = DType::f32, .dims = {kSide, kSide}};
  backends::Problem p{.op = &op, .attributes = &none, .anchor_inputs = 2, .in = {square, square}, .out = {square}};
  p.in[1].constant = true;
  p.device = &backend_.info();
  for (const backends::Tactic* tactic : backends::tactics_for(backend_, op)) {
    if (tactic->source != backends::Source::native || !tactic->work || !tactic->supports(p)) continue;
    const double ns = timer_.time(*tactic, p, tactic->configs(p).at(0), 0);
    if (ns < kCannotRun) rate_ = std::max(*rate_, tactic->work(p) / ns);
  }
  return *rate_;
}

}  // namespace tenfold::tune
