// A candidate whose workspace finds no memory is passed over; operands that find none end the build, for every candidate has them.
#include <gtest/gtest.h>

#include "base/check.h"
#include "ir/op_def.h"
#include "tune/timing/timer.h"

namespace tenfold::tune {
namespace {

// A CPU whose memory gives no block larger than a bound.
class ScarceMemory final : public backends::Backend, backends::DeviceMemory {
 public:
  explicit ScarceMemory(std::int64_t largest) : largest_(largest) {}
  std::string_view name() const override { return cpu_->name(); }
  const backends::DeviceInfo& info() const override { return cpu_->info(); }
  const std::vector<backends::Tactic>& tactics() const override { return cpu_->tactics(); }
  backends::DeviceMemory& memory() override { return *this; }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions& options) override { return cpu_->open_stream(options); }
  backends::KernelTiming& timing() override { return cpu_->timing(); }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    require(bytes <= largest_, ErrorKind::out_of_memory, bytes, " bytes wanted");
    return cpu_->memory().allocate(bytes);
  }
  std::shared_ptr<backends::Backend> cpu_ = backends::open_backend("cpu");
  std::int64_t largest_;
};

// Copies four bytes, and asks for a megabyte to do so.
backends::Tactic greedy(bool per_worker) {
  const auto megabyte = [](const backends::Problem&, const backends::Config&) { return ir::Dim(1 << 20); };
  backends::Tactic tactic{.name = "greedy", .ops = {"Relu"}};
  tactic.open = [](const backends::Problem&, const backends::Config&, backends::Opening&) { return std::shared_ptr<const void>(); };
  tactic.run = [](const void*, const backends::RunArgs& args) noexcept {
    *args.out[0].as<float>() = *args.in[0].as<float>();
    return Status::ok;
  };
  if (per_worker) tactic.worker_scratch = megabyte;
  else tactic.workspace = megabyte;
  return tactic;
}

double time_of(std::int64_t largest, bool per_worker) {
  ScarceMemory backend(largest);
  BuildConfig config;
  config.threads = 1;
  backends::Problem problem;
  problem.op = &ir::Registry::builtin().get("Relu");
  problem.in.resize(1), problem.out.resize(1);
  problem.in[0].dtype = problem.out[0].dtype = DType::f32;
  problem.in[0].dims = problem.out[0].dims = {ir::Dim(1)};
  problem.device = &backend.info();
  return clock_timer(backend, config, false)->time(greedy(per_worker), problem, {}, 0);
}

TEST(ClockTimer, PassesOverWhatFindsNoMemoryForItsWorkspace) {
  for (const bool per_worker : {false, true}) {
    EXPECT_LT(time_of(2 << 20, per_worker), kCannotRun);
    EXPECT_EQ(time_of(1 << 16, per_worker), kCannotRun);
  }
}

TEST(ClockTimer, EndsWhereOperandsFindNone) {
  try {
    time_of(1, false);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  }
}

}  // namespace
}  // namespace tenfold::tune
