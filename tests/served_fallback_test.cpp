// Served models on GPUs that fail: who answers then, how soon, and what is counted. The GPUs are the fake driver's, which compute nothing,
// so that it shows whose an answer is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/cuda/device/compiler.h"
#include "base/check.h"
#include "fake_driver.h"
#include "onnx_import/model_for_tests.h"
#include "tenfold/device_error.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold {
namespace {

using tests::FakeDriver;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRows = 2;

// Two rows of x, and what became of them.
class Request final : public ServedRequest {
 public:
  explicit Request(float first = 1) : x_{first, -2, 3, -4} {
    input_ = {"x", DType::f32, shape_, {&piece_, 1}, nullptr};
  }
  std::span<const RequestInput> inputs() const override { return {&input_, 1}; }
  void* output_memory(int, std::span<const std::int64_t>, std::int64_t bytes) override {
    ++outputs;
    y_.assign(static_cast<std::size_t>(bytes) / sizeof(float), 77);
    return y_.data();
  }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    ++finished;
    if (outcome.error) error = outcome.error->what();
    done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(done_.wait_for(lock, 60s, [this] { return finished > 0; })) << "the request has no answer";
  }
  bool is_right() const { return y_ == std::vector<float>{std::max(x_[0], 0.F), 0, 3, 0}; }   // Relu, by a CPU

  int outputs = 0, finished = 0;
  std::string error;

 private:
  std::vector<float> x_, y_;
  Shape shape_{kRows, 2};
  std::span<const std::byte> piece_ = std::as_bytes(std::span(x_));
  RequestInput input_;
  std::mutex mutex_;
  std::condition_variable done_;
};

class ServedFallback : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
    fake_ = &FakeDriver::get();
    *fake_ = {};
    using namespace onnx_import;
    onnx::ModelProto m = new_model();
    add_input(*m.graph, "x", {"batch", "2"});
    add_node(*m.graph, "Relu", {"x"}, {"y"});
    add_output(*m.graph, "y");
    std::ofstream(path_, std::ios::binary) << serialized(m);
    options_.build.threads = 1, options_.build.optimization_level = 0, options_.max_batch = 4;
    options_.build.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference | TacticSource::native);
    options_.tune = Tune::never;
    options_.build.log = [this](Severity severity, std::string_view text) {
      const std::lock_guard lock(mutex_);
      if (severity == Severity::warning) warnings_ += std::string(text) + "\n";
    };
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    if (fake_) FakeDriver::put();
  }
  void open(const char* device) {
    model_ = open_served_model(path_, options_);
    instance_ = model_->create_instance(device);
  }
  void close() { instance_.reset(), model_.reset(); }
  // Whether the CPU answered.
  bool cpu_answers() {
    Request request;
    ServedRequest* const one = &request;
    const auto start = Clock::now();
    instance_->run({&one, 1});
    slowest_ = std::max(slowest_, Clock::now() - start);
    EXPECT_EQ(request.finished, 1);
    EXPECT_LE(request.outputs, 1);
    error_ = request.error;
    return request.is_right();
  }
  // "engine cpu device_lost 3; ..."
  std::string counts() const {
    std::string all;
    for (const FallbackCount& one : model_->fallbacks())
      all += (all.empty() ? "" : "; ") + one.from + " " + one.to + " " + one.reason + " " + std::to_string(one.requests);
    return all;
  }
  FakeDriver* fake_ = nullptr;
  std::string path_ = testing::TempDir() + "tenfold_fallback_" + std::to_string(::getpid()) + ".onnx";
  ServedModelOptions options_;
  std::shared_ptr<ServedModel> model_;
  std::unique_ptr<ServedInstance> instance_;
  std::string error_, warnings_;
  Clock::duration slowest_{0};
  std::mutex mutex_;
};

TEST_F(ServedFallback, ALostGpuIsFollowedByTheCpu) {
  open("cuda:1");
  EXPECT_FALSE(cpu_answers());
  EXPECT_EQ(error_, "");
  EXPECT_EQ(instance_->device(), "cuda:1");
  EXPECT_EQ(counts(), "");
  fake_->launches_left[1] = 0;
  slowest_ = {};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(cpu_answers());
    EXPECT_EQ(error_, "");
    EXPECT_EQ(instance_->device(), "cpu");
  }
  EXPECT_LT(slowest_, 1s);
  EXPECT_FALSE(device_health("cuda:1"));
  EXPECT_EQ(counts(), "engine cpu device_lost 3");
  EXPECT_NE(warnings_.find("an engine on 'cuda:1' failed, so another one follows, on 'cpu'"), std::string::npos) << warnings_;
  close();
}

TEST_F(ServedFallback, AnErrorThatMayPassIsFollowedByTheSameGpuUntimedAndLaterByItself) {
  open("cuda:2");
  EXPECT_FALSE(cpu_answers());
  fake_->failures[2] = 2;   // no memory
  EXPECT_TRUE(cpu_answers()) << error_;
  EXPECT_EQ(counts(), "engine cpu out_of_memory 1");
  fake_->failures[2] = 0;
  EXPECT_TRUE(cpu_answers()) << "not at once: each trial is a request that takes longer";
  const auto until = Clock::now() + 60s;
  bool back = false;
  while (!back && Clock::now() < until) back = !cpu_answers(), std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(back);
  EXPECT_EQ(instance_->device(), "cuda:2");
  close();
}

TEST_F(ServedFallback, AGpuThatCannotBeUsedAtTheStartIsCounted) {
  fake_->failures[3] = 100;   // CUDA_ERROR_NO_DEVICE
  open("cuda:3");
  EXPECT_EQ(instance_->device(), "cpu");
  EXPECT_TRUE(cpu_answers());
  EXPECT_EQ(counts(), "engine cpu unavailable 1");
  close();
  fake_->failures[3] = 0;
}

TEST_F(ServedFallback, WithoutItRequestsFail) {
  options_.fallback_at_runs = false;
  open("cuda:4");
  EXPECT_FALSE(cpu_answers());
  fake_->launches_left[4] = 0;
  EXPECT_FALSE(cpu_answers());
  EXPECT_NE(error_, "");
  EXPECT_EQ(counts(), "");
  close();
}

// Four instances, in whose midst the GPU is lost: every request is answered, by one or the other.
TEST_F(ServedFallback, NoRequestOfAQueueIsUnanswered) {
  model_ = open_served_model(path_, options_);
  std::vector<std::unique_ptr<ServedInstance>> instances;
  for (int i = 0; i < 4; ++i) instances.push_back(model_->create_instance("cuda:5"));
  constexpr int kRequests = 2000;
  std::vector<std::shared_ptr<Request>> requests;
  {
    QueueOptions queue_options;
    queue_options.max_batch = options_.max_batch, queue_options.max_requests = 0;
    RequestQueue queue(std::move(instances), queue_options);
    fake_->launches_left[5] = 100;
    for (int i = 0; i < kRequests; ++i) {
      requests.push_back(std::make_shared<Request>(static_cast<float>(i)));
      queue.submit(requests.back());
    }
    for (const auto& request : requests) request->wait();
  }
  std::uint64_t by_cpu = 0;
  for (const auto& request : requests) {
    EXPECT_EQ(request->finished, 1);
    EXPECT_EQ(request->error, "");
    by_cpu += request->is_right();
  }
  EXPECT_GT(by_cpu, 0U);
  EXPECT_LT(by_cpu, static_cast<std::uint64_t>(kRequests));
  EXPECT_EQ(counts(), "engine cpu device_lost " + std::to_string(by_cpu));
  close();
}

}  // namespace
}  // namespace tenfold
