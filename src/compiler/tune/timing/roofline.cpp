// Work: the rate of a product that leaves nothing to wish for: constant, square, its panels in the second cache. Bytes: the rates at
// which operands are summed that lie in the second cache, and constants that a large model's other weights have pushed into memory.
#include "tune/timing/roofline.h"

#include <algorithm>

#include "backends/device_traits.h"
#include "backends/tactic_set.h"
#include "ir/op_def.h"

namespace tenfold::tune {
namespace {

constexpr double kMargin = 1.25;        // no product of a model has run this much faster than the square one
constexpr double kCacheMargin = 2;      // what lies nearer than the second cache is read faster
constexpr double kMemoryMargin = 1.3;
constexpr double kMinTimedWork = 1e6;    // operations; less is timed sooner than doubted
constexpr double kWorthMoving = 256 << 10;   // bytes

// Products in narrower types have other rates, which tiles of AMX raise again.
bool in_plain_floats(const backends::Problem& p) {
  return !p.numerics.allows(ir::Rounding::bf16) &&
         std::all_of(p.in.begin(), p.in.end(), [](const backends::OperandDesc& d) { return d.missing || d.dtype == DType::f32; });
}

double bytes_of(const backends::OperandDesc& d) {
  return static_cast<double>(byte_size(d.dtype, backends::storage_elements(d.layout, d.dims).evaluate({})));
}
// A convolution may step over parts of its input.
bool steps_over(const backends::Problem& p) {
  const ir::Ints strides = p.attributes ? p.attributes->ints("strides", {}) : ir::Ints{};
  return std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s > 1; });
}

}  // namespace

MinTime Roofline::min_time(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config) {
  if (!backends::traits_of(backend_.info()).host_arithmetic || !tactic.work) return {};   // products, which read all of their operands
  const double work = work_ns(tactic, fixed), bytes = bytes_ns(tactic, fixed, config);
  return bytes > work ? MinTime{bytes, true} : MinTime{work, false};
}

void Roofline::learn(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config, double ns) {
  const MinTime found = min_time(tactic, fixed, config);
  if (found.ns <= ns || ns <= 0) return;
  const double faster = found.ns / ns;
  if (!found.bytes) *rate_ *= faster;
  else
    for (std::optional<double>* rate : {&cache_rate_, &memory_rate_})
      if (*rate) **rate *= faster;
}

double Roofline::work_ns(const backends::Tactic& tactic, const backends::Problem& fixed) {
  if (!in_plain_floats(fixed)) return 0;
  const double work = tactic.work(fixed);
  if (work < kMinTimedWork) return 0;
  const double rate = operations_per_ns();
  return rate > 0 ? work / (kMargin * rate) : 0;
}

double Roofline::bytes_ns(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config) {
  double constants = 0, others = 0;
  for (std::size_t i = 0; i < fixed.in.size(); ++i) {
    const backends::OperandDesc& d = fixed.in[i];
    if (d.missing || (i == 0 && !d.constant && steps_over(fixed))) continue;
    const std::int64_t packed = d.constant && tactic.packed_bytes ? tactic.packed_bytes(fixed, config, static_cast<int>(i)) : -1;
    const double plain = bytes_of(d);   // packed, it may hold what only a refit reads
    (d.constant ? constants : others) += packed >= 0 ? std::min(static_cast<double>(packed), plain) : plain;
  }
  for (const backends::OperandDesc& d : fixed.out) others += d.missing ? 0 : bytes_of(d);
  if (constants + others < kWorthMoving) return 0;
  const double cache = bytes_per_ns(false), memory = timer_.cold_weights() ? bytes_per_ns(true) : 0;
  double ns = cache > 0 ? (constants + others) / (kCacheMargin * cache) : 0;
  if (memory > 0) ns = std::max(ns, constants / (kMemoryMargin * memory));   // the rest may be read meanwhile
  return ns;
}

double Roofline::bytes_per_ns(bool from_memory) {
  std::optional<double>& rate = from_memory ? memory_rate_ : cache_rate_;
  if (rate) return *rate;
  rate = 0;
  const std::int64_t rows = from_memory ? 1024 : 16;
  constexpr std::int64_t kRow = 4096;
  const ir::OpDef& op = ir::Registry::builtin().get("ReduceSum");
  const ir::Attributes attributes{{"axes", ir::Ints{-1}}, {"keepdims", std::int64_t{1}}, {"noop_with_empty_axes", std::int64_t{0}}};
  backends::Problem p{.op = &op, .attributes = &attributes, .anchor_inputs = 1, .device = &backend_.info()};
  p.in = {{.dtype = DType::f32, .dims = {rows, kRow}, .constant = from_memory}}, p.out = {{.dtype = DType::f32, .dims = {rows, 1}}};
  for (const backends::Tactic* tactic : backends::TacticSet(backend_).of(op)) {
    if (tactic->source != backends::Source::native || !tactic->supports(p)) continue;
    const double ns = timer_.time(*tactic, p, tactic->configs(p).at(0), 0);
    if (ns < kCannotRun) rate = std::max(*rate, static_cast<double>(rows * kRow * 4) / ns);
  }
  return *rate;
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
  for (const backends::Tactic* tactic : backends::TacticSet(backend_).of(op)) {
    if (tactic->source != backends::Source::native || !tactic->work || !tactic->supports(p)) continue;
    const double ns = timer_.time(*tactic, p, tactic->configs(p).at(0), 0);
    if (ns < kCannotRun) rate_ = std::max(*rate_, tactic->work(p) / ns);
  }
  return *rate_;
}

}  // namespace tenfold::tune
