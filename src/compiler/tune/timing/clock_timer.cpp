// Timing by the clock: operands in scratch memory, filled with harmless data.
#include "backends/code.h"
#include "tenfold/internal/interrupts.h"
#include "tune/timing/timer.h"
#include "tune/timing/timing_data.h"

namespace tenfold::tune {
namespace {

using backends::Bound;
using backends::OperandDesc;
using backends::Problem;

class ClockTimer final : public Timer {
 public:
  ClockTimer(backends::Backend& backend, const BuildConfig& config, bool cold_weights)
      : backend_(backend), stream_(backend.open_stream({.threads = config.threads})), level_(config.optimization_level),
        repetitions_(config.timing_repetitions), cold_weights_(cold_weights), numbers_(*stream_) {}

  double time(const backends::Tactic& tactic, const Problem& problem, const backends::Config& config, double best) override {
    backends::MeasureBudget budget;
    budget.min_ms = level_ >= 5 ? 10 : level_ >= 3 ? 2 : 1;
    budget.give_up_ns = best > 5e6 ? 1.2 * best : 2 * best;  // long launches vary less: one shows who lost
    return measure(tactic, problem, config, best, budget);
  }
  double again(const backends::Tactic& tactic, const Problem& problem, const backends::Config& config) override {
    backends::MeasureBudget budget;
    budget.min_ms = level_ >= 5 ? 5 : 0.5, budget.min_runs = 1;
    return measure(tactic, problem, config, 0, budget);
  }
  bool cold_weights() const override { return cold_weights_; }

 private:
  double measure(const backends::Tactic& tactic, const Problem& problem, const backends::Config& config, double best,
                 backends::MeasureBudget budget) {
    throw_if_cancelled();
    constexpr double kNoLimit = 1e9;
    if (repetitions_ > 0) budget.max_runs = budget.min_runs = repetitions_, budget.min_ms = kNoLimit;   // exactly so many
    used_ = 0;
    extents_.clear();
    weights_.clear();
    const std::size_t operands = problem.in.size() + problem.out.size();
    extents_.reserve(operands * 128);
    std::vector<Bound> in, out;
    for (std::size_t i = 0; i < problem.in.size(); ++i) in.push_back(operand(tactic, problem, config, static_cast<int>(i)));
    for (const OperandDesc& d : problem.out) out.push_back(plain(d, storage_bytes(d)));
    const std::int64_t workspace = tactic.workspace ? tactic.workspace(problem, config).evaluate({}) : 0;
    std::shared_ptr<const void> kernel;
    try {
      backends::Opening opening;
      kernel = tactic.open(problem, config, opening);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::unsupported) throw;
      return kCannotRun;
    }
    backends::RunArgs args{in, out, nullptr, nullptr};
    args.scratch_stride = tactic.worker_scratch ? backends::scratch_stride(tactic.worker_scratch(problem, config).evaluate({})) : 0;
    try {
      args.workspace = scratch(workspace, 0);
      args.scratch = scratch(args.scratch_stride * stream_->parallel().workers(), 0);
    } catch (const Error& e) {   // operands are needed by every candidate, this by one alone
      if (e.kind() != ErrorKind::out_of_memory) throw;
      return kCannotRun;
    }
    if (cold_weights_) budget.cold = weights_;
    const double ns = backend_.timing().measure(*stream_, tactic, kernel.get(), args, budget);
    // A GPU that is kept busy slows down as it draws more power than it may: what is long and near the best is measured as it will run.
    constexpr double kLong = 5e3, kNear = 1.1, kBusyMs = 20;
    if (backend_.memory().host_reads() || level_ < 3 || repetitions_ > 0 || ns < kLong || (best > 0 && ns > kNear * best)) return ns;
    budget.min_ms = kBusyMs;
    return backend_.timing().measure(*stream_, tactic, kernel.get(), args, budget);
  }
  static std::int64_t storage_bytes(const OperandDesc& d) {
    return byte_size(d.dtype, backends::storage_elements(d.layout, d.dims).evaluate({}));
  }
  // Of an operand that says where packed sentences begin. -1: operand i does not.
  static std::int64_t rows_behind_offsets(const Problem& problem, int i) {
    const ir::Offsets& offsets = problem.op->traits.offsets;
    return i == offsets.operand ? problem.in[0].dims[static_cast<std::size_t>(offsets.dim)].constant() : -1;
  }
  // Sentences of one length.
  void rise(const Bound& offsets, std::int64_t rows) {
    const std::int64_t last = offsets.dims[0] - 1;
    std::vector<std::int32_t> values(static_cast<std::size_t>(last + 1), 0);
    for (std::int64_t s = 1; s <= last; ++s) values[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(rows * s / last);
    stream_->copy(offsets.data, values.data(), (last + 1) * 4);
    stream_->wait();
  }
  // first, first + by, first + 2 * by ... as integers of a type.
  void count_up(const Bound& to, DType type, std::int64_t bytes, int first, int by) {
    std::vector<std::int64_t> wide(static_cast<std::size_t>(bytes / 8 + 1));
    std::vector<std::int32_t> narrow(static_cast<std::size_t>(bytes / 4 + 1));
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = first + by * static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = first + by * static_cast<std::int32_t>(i);
    stream_->copy(to.data, type == DType::i64 ? static_cast<const void*>(wide.data()) : narrow.data(), bytes);
    stream_->wait();
  }
  Bound operand(const backends::Tactic& tactic, const Problem& problem, const backends::Config& config, int i) {
    const OperandDesc& d = problem.in[static_cast<std::size_t>(i)];
    if (d.missing) return {};
    const std::int64_t packed = d.constant && tactic.packed_bytes ? tactic.packed_bytes(problem, config, i) : -1;
    const std::int64_t bytes = packed >= 0 ? packed : storage_bytes(d);
    const Bound bound = plain(d, bytes);
    if (const std::int64_t rows = rows_behind_offsets(problem, i); rows >= 0) rise(bound, rows);
    // Zeros, which other integers are, are no steps, and one axis only once.
    if (i == problem.op->traits.steps) count_up(bound, d.dtype, bytes, 1, 0);
    if (i == problem.op->traits.axes) count_up(bound, d.dtype, bytes, 0, 1);
    if (d.constant && bytes > 0) weights_.emplace_back(static_cast<const std::byte*>(bound.data), static_cast<std::size_t>(bytes));
    return bound;
  }
  Bound plain(const OperandDesc& d, std::int64_t bytes) {
    Bound b;
    b.rank = static_cast<int>(d.dims.size());
    b.dims = append(ir::constants(d.dims));
    b.strides = append(ir::constants(backends::strides(d.layout, d.dims)));
    // 0x3c bytes: 0.0115 as f32, 1.06 as f16, 60 as int8. Zeros for wide integers, which may be indices.
    const bool index = d.dtype == DType::i64 || d.dtype == DType::i32;
    b.data = scratch(bytes, index ? 0 : d.dtype == DType::boolean ? 1 : 0x3c);
    if (!backend_.memory().host_reads()) numbers_.fill(b.data, d.dtype, bytes);
    return b;
  }
  const std::int64_t* append(const std::vector<std::int64_t>& values) {
    check(extents_.size() + values.size() <= extents_.capacity(), "timing an operand of too many dims");
    extents_.insert(extents_.end(), values.begin(), values.end());
    return extents_.data() + extents_.size() - values.size();
  }
  // Blocks are handed out in order and reused by the next call; a block that is too small is made anew.
  void* scratch(std::int64_t bytes, int fill) {
    if (bytes <= 0) return nullptr;
    if (used_ == blocks_.size()) blocks_.push_back({});
    Block& block = blocks_[used_++];
    if (block.bytes < bytes) block = {nullptr, 0}, block = {backend_.memory().allocate(bytes), bytes};
    stream_->fill(block.memory.get(), fill, bytes);
    return block.memory.get();
  }

  struct Block { std::shared_ptr<void> memory; std::int64_t bytes = 0; };
  backends::Backend& backend_;
  std::unique_ptr<backends::Stream> stream_;
  int level_, repetitions_;
  bool cold_weights_;
  RandomNumbers numbers_;
  std::vector<std::span<const std::byte>> weights_;   // of the problem at hand
  std::vector<Block> blocks_;
  std::size_t used_ = 0;
  std::vector<std::int64_t> extents_;
};

class RandomTimer final : public Timer {
 public:
  explicit RandomTimer(std::uint64_t seed) : seed_(seed) {}
  double time(const backends::Tactic& tactic, const Problem& problem, const backends::Config& config, double) override {
    std::uint64_t h = seed_ * 0x9e3779b97f4a7c15ull + 1469598103934665603ull;
    for (char c : problem.line() + tactic.name + config_text(config)) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    h ^= h >> 29;
    return 1000.0 + static_cast<double>(h % 100000);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Timer> clock_timer(backends::Backend& backend, const BuildConfig& config, bool cold_weights) {
  return std::make_unique<ClockTimer>(backend, config, cold_weights);
}
std::unique_ptr<Timer> random_timer(std::uint64_t seed) { return std::make_unique<RandomTimer>(seed); }

std::string config_text(const backends::Config& config) {
  std::string out;
  for (std::size_t i = 0; i < config.size(); ++i) out += (i ? "," : "") + std::to_string(config[i]);
  return out;
}

std::string config_text(const backends::Config& config, const backends::Formats& formats) {
  const backends::Layout in = formats.in.empty() ? backends::kPlain : formats.in[0];
  const backends::Layout out = formats.out.empty() ? backends::kPlain : formats.out[0];
  std::string layouts = in == out ? text(out) : cat(text(in), ">", text(out));
  if (layouts == text(backends::kPlain)) layouts.clear();
  return config_text(config) + (config.empty() || layouts.empty() ? "" : " ") + layouts;
}

}  // namespace tenfold::tune
