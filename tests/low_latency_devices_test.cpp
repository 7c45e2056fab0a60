// Runners whose first candidates are on GPUs that fail, on a driver that computes nothing: no request is lost, no lost GPU is asked again.
#include <atomic>
#include <mutex>
#include <thread>

#include "on_a_fake_gpu.h"
#include "tenfold/low_latency.h"

namespace tenfold {
namespace {

using tests::FakeDriver;
using namespace std::chrono_literals;

constexpr int kGpus = 6;          // each is lost once; the fixture's own is another
const float kX[16] = {-1, 2, -3, 4, -5, 6};

class LowLatencyDevices : public tests::FakeGpu {
 protected:
  EngineCandidate gpu(int ordinal) {
    return {"gpu", [this, ordinal] {
              const std::shared_ptr<backends::Backend> there = backend_;
              backend_ = backends::open_cuda(ordinal);
              Engine made = engine("(x f32[1,6])\n y = Relu(x)");
              backend_ = there;
              return made;
            }};
  }
  static EngineCandidate cpu() {
    return {"cpu", [] {
              BuildConfig config;
              config.threads = 1, config.optimization_level = 0;
              return builder::build_graph(ir::parse_graph("(x f32[1,6])\n y = Relu(x)", ir::Registry::builtin()), config);
            }};
  }
  RunnerOptions options() {
    RunnerOptions o;
    o.tolerance = -1;   // kernels here compute nothing
    o.warm_up_runs = 3, o.first_pause = 20ms, o.longest_pause = 40ms;
    o.log = [this](Severity, std::string_view line) {
      const std::lock_guard lock(mutex_);
      reported_ += std::string(line) + "\n";
    };
    return o;
  }
  bool reported(const std::string& part) {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(5ms)) {
      const std::lock_guard lock(mutex_);
      if (reported_.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::mutex mutex_;
  std::string reported_;
};

bool right(const float* y) {
  for (int i = 0; i < 6; ++i)
    if (y[i] != std::max(kX[i], 0.0f)) return false;
  return true;
}

// Whichever launch is the last one that the GPU makes, while it is warmed or later: every request is answered.
TEST_F(LowLatencyDevices, ALostGpuCostsNoRequest) {
  for (int ordinal = 0; ordinal < kGpus; ++ordinal) {
    fake_->launches_left[ordinal] = 1 + 2 * ordinal;
    LatencyRunner runner({gpu(ordinal), cpu()}, options());
    const int warm = fake_->launches_of[ordinal];
    int by_gpu = 0, by_cpu = 0;
    for (int i = 0; i < 100; ++i) {
      float y[16] = {};
      const Answer a = runner.infer(kX, y);
      ASSERT_TRUE(a.status) << ordinal << " request " << i;
      ++(a.candidate == 0 ? by_gpu : by_cpu);
      ASSERT_TRUE(a.candidate == 0 || right(y)) << ordinal << " request " << i;
    }
    EXPECT_EQ(by_gpu, 1 + 2 * ordinal - warm) << "those launches that it had left";
    EXPECT_EQ(by_gpu + by_cpu, 100);
    EXPECT_TRUE(runner.ready());
    EXPECT_EQ(runner.backend(), "cpu");
    const int launched = fake_->launches_of[ordinal];
    if (runner.candidates()[0].opened) {
      EXPECT_TRUE(reported("'gpu' was left: a run failed"));
      EXPECT_TRUE(reported("unspecified launch failure")) << reported_;
      EXPECT_TRUE(reported("its device is lost for this process and is not asked again"));
    } else {
      EXPECT_TRUE(reported("the candidate 'gpu' is not used: ")) << reported_;
    }
    std::this_thread::sleep_for(150ms);   // several pauses
    EXPECT_EQ(fake_->launches_of[ordinal], launched) << "it was asked again";
    reported_.clear();
  }
}

// An error that passes: the candidate is left, probed, and comes back.
TEST_F(LowLatencyDevices, AGpuThatRecoversComesBack) {
  LatencyRunner runner({gpu(FakeDriver::kOrdinal), cpu()}, options());
  float y[16] = {};
  EXPECT_EQ(runner.infer(kX, y).candidate, 0);
  fake_->failure = 701;   // a launch that lacks resources
  for (int i = 0; i < 10; ++i) {
    const Answer a = runner.infer(kX, y);
    ASSERT_TRUE(a.status && a.candidate == 1 && right(y));
  }
  EXPECT_TRUE(runner.ready());
  EXPECT_TRUE(reported("'gpu' was left: a run failed"));
  fake_->failure = 0;
  EXPECT_TRUE(reported("'gpu' is back after 10 good answers")) << reported_;
  EXPECT_EQ(runner.infer(kX, y).candidate, 0);
}

// The next candidate answers what a candidate has no memory for, and the candidate is asked again: other requests may take less.
TEST_F(LowLatencyDevices, AGpuWithoutMemoryIsNotLeft) {
  LatencyRunner runner({gpu(FakeDriver::kOrdinal), cpu()}, options());
  float y[16] = {};
  fake_->failure = 2;   // out of memory
  for (int i = 0; i < 10; ++i) {
    const Answer a = runner.infer(kX, y);
    ASSERT_TRUE(a.status && a.candidate == 1 && right(y));
  }
  fake_->failure = 0;
  EXPECT_EQ(runner.infer(kX, y).candidate, 0);
  EXPECT_EQ(runner.counts().fell, 10u);
  EXPECT_EQ(runner.candidates()[0].left, 0u);
}

TEST_F(LowLatencyDevices, WithoutAGpuTheCpuAnswers) {
  fake_->failures[FakeDriver::kOrdinal] = 100;   // no device
  const EngineCandidate absent{"gpu", [] {
                      BuildConfig config;
                      config.device = "cuda:99";
                      return builder::build_graph(ir::parse_graph("(x f32[1,6])\n y = Relu(x)", ir::Registry::builtin()), config);
                    }};
  LatencyRunner runner({absent, cpu()}, options());
  float y[16] = {};
  EXPECT_EQ(runner.infer(kX, y).candidate, 1);
  EXPECT_TRUE(right(y) && runner.ready());
  EXPECT_TRUE(reported("the candidate 'gpu' is not used: ")) << reported_;
  RunnerOptions strict = options();
  strict.strict = true;
  EXPECT_THROW(LatencyRunner({absent, cpu()}, strict), Error);
  fake_->failures.clear();
}

// Through rings, while the GPU goes: nothing is lost or answered twice.
TEST_F(LowLatencyDevices, RingsLoseNothing) {
  fake_->launches_left[kGpus] = 200;
  LatencyRunner runner({gpu(kGpus), cpu()}, options());
  const int warm = fake_->launches_of[kGpus];
  RunnerPort port = runner.open_port({.slots = 32});
  RunnerThread thread({&runner});
  std::uint64_t sent = 0, got = 0, by_gpu = 0;
  for (Answer a; got < 2000;) {
    float y[16];
    if (sent < 2000 && sent < got + 32) sent += port.submit(sent, kX);
    if (!port.poll(a, y)) continue;
    ASSERT_TRUE(a.status && a.id == got++);
    by_gpu += a.candidate == 0;
    ASSERT_TRUE(a.candidate == 0 || right(y));
  }
  EXPECT_EQ(by_gpu, static_cast<std::uint64_t>(200 - warm));
  EXPECT_TRUE(runner.ready());
}

}  // namespace
}  // namespace tenfold
