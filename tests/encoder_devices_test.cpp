// An encoder on CPU and GPUs of which some fail. The GPUs are the fake driver's, which compute nothing: their vectors are
// zeros, so that it shows who did which text. All other vectors are those of a CPU alone.
#include <gtest/gtest.h>

#include "backends/cuda/device/compiler.h"
#include "base/check.h"
#include "fake_driver.h"
#include "tenfold/runtime.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold {
namespace {

using encoders::TinyBert;
using tests::FakeDriver;

constexpr std::size_t kTexts = 400, kWidth = TinyBert::kWidth;
constexpr float kOfGpu = 0.7475f;  // about: bytes 0x3f

class EncoderDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
    fake_ = &FakeDriver::get();
    *fake_ = {};
    for (std::size_t i = 0; i < kTexts; ++i) {
      std::string text;
      for (std::size_t n = i; n > 0; n /= 4) text += std::string(text.empty() ? "" : " ") + "abcd"[n % 4];
      texts_.push_back(text);
    }
    expected_ = bert_.load().encode(std::vector<std::string_view>(texts_.begin(), texts_.end()));
  }
  void TearDown() override {
    if (fake_) FakeDriver::put();
  }
  Encoder load(std::vector<std::string> devices, DeviceStrategy strategy = DeviceStrategy::round_robin) {
    EncoderOptions options;
    options.devices = std::move(devices), options.strategy = strategy, options.batch_tokens = 64;
    options.build.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference | TacticSource::native);
    options.build.log = [this](Severity severity, std::string_view text) {
      const std::lock_guard lock(mutex_);
      if (severity == Severity::warning && text.find("failed, and the others") != std::string_view::npos) reported_.emplace_back(text);
    };
    return bert_.load(std::move(options));
  }
  std::vector<float> encode(const Encoder& encoder) { return encoder.encode(std::vector<std::string_view>(texts_.begin(), texts_.end())); }
  // How many vectors are a GPU's; all others are right.
  std::int64_t of_gpus(const std::vector<float>& got) const {
    std::int64_t count = 0;
    EXPECT_EQ(got.size(), expected_.size());
    for (std::size_t i = 0; i < kTexts; ++i) {
      bool gpus = true;
      for (std::size_t c = 0; c < kWidth; ++c) gpus &= got[i * kWidth + c] == 0;
      count += gpus;
      for (std::size_t c = 0; c < kWidth && !gpus; ++c) EXPECT_NEAR(got[i * kWidth + c], expected_[i * kWidth + c], 1e-5f) << texts_[i];
    }
    return count;
  }
  FakeDriver* fake_ = nullptr;
  TinyBert bert_{"encoder-devices"};
  std::vector<std::string> texts_, reported_;
  std::vector<float> expected_;
  std::mutex mutex_;
};

TEST_F(EncoderDevices, TextsGoToAllDevicesInOrder) {
  const Encoder encoder = load({"cuda:1", "cpu", "cuda:0"});
  const std::vector<float> got = encode(encoder);
  const std::vector<DeviceWork> work = encoder.devices();
  EXPECT_EQ(of_gpus(got), work[0].texts + work[2].texts);
  for (const DeviceWork& one : work) EXPECT_GT(one.texts, 0) << one.device << ": " << one.lost;
  EXPECT_EQ(work[0].texts + work[1].texts + work[2].texts, static_cast<std::int64_t>(kTexts));
  EXPECT_GT(fake_->launches_of[1], 0);
  EXPECT_GT(fake_->launches_of[0], 0);
  EXPECT_TRUE(reported_.empty());
}

// One of two GPUs is lost in the middle: the vectors that it had not given come from the others, and a later call leaves it out.
TEST_F(EncoderDevices, OneLostInMidRunGivesItsPieceBack) {
  fake_->launches_left[3] = 50;
  const Encoder encoder = load({"cuda:3", "cuda:4", "cpu"});
  const std::vector<float> got = encode(encoder);
  const std::vector<DeviceWork> work = encoder.devices();
  EXPECT_EQ(fake_->launches_of[3], 50);
  EXPECT_EQ(of_gpus(got), work[0].texts + work[1].texts);
  EXPECT_NE(work[0].lost.find("unspecified launch failure"), std::string::npos) << work[0].lost;
  EXPECT_EQ(work[1].lost + work[2].lost, "");
  EXPECT_EQ(work[0].texts + work[1].texts + work[2].texts, static_cast<std::int64_t>(kTexts));
  ASSERT_EQ(reported_.size(), 1u);
  EXPECT_NE(reported_[0].find("'cuda:3' failed, and the others do its work"), std::string::npos) << reported_[0];
  const std::int64_t before = work[0].texts;
  encode(encoder);
  EXPECT_EQ(encoder.devices()[0].texts, before);
  EXPECT_EQ(reported_.size(), 1u);
}

// Both GPUs fail, one before it has an engine: everything is computed by the CPU, and is right.
TEST_F(EncoderDevices, TheLastOneDoesEverything) {
  for (const DeviceStrategy strategy : {DeviceStrategy::automatic, DeviceStrategy::memory, DeviceStrategy::utilization}) {
    fake_->failures[5] = 2;  // no memory is left on it
    fake_->failures[6] = 0, fake_->launches_left[6] = 0;
    reported_.clear();
    const Encoder encoder = load({"cuda:5", "cuda:6", "cpu"}, strategy);
    encoder.prepare();
    const std::vector<float> got = encode(encoder);
    EXPECT_EQ(of_gpus(got), 0);
    EXPECT_EQ(encoder.devices()[2].texts, static_cast<std::int64_t>(kTexts));
    EXPECT_NE(encoder.devices()[0].lost, "");
  }
}

// A pipeline's last device is lost in the middle: those in front of it make whole vectors from there on.
TEST_F(EncoderDevices, APipelineGoesOnWithoutItsLastDevice) {
  fake_->launches_left[2] = 20;
  const Encoder encoder = load({"cpu", "cuda:2"}, DeviceStrategy::pipeline);
  const std::vector<float> got = encode(encoder);
  const std::vector<DeviceWork> work = encoder.devices();
  EXPECT_GT(work[1].texts, 0);
  EXPECT_EQ(of_gpus(got), work[1].texts);
  EXPECT_NE(work[1].lost, "");
  EXPECT_EQ(reported_.size(), 1u);
  EXPECT_EQ(of_gpus(encode(encoder)), 0);
}

// A GPU with memory for small batches alone computes with these, and is not lost.
TEST_F(EncoderDevices, TooLittleMemoryHalvesBatches) {
  std::vector<std::string> reported;
  const auto load_within = [&](std::int64_t batch_tokens, const std::shared_ptr<Runtime>& runtime) {
    EncoderOptions options;
    options.build.device = "cuda:1", options.batch_tokens = batch_tokens, options.build.runtime = runtime;
    options.build.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference | TacticSource::native);
    options.build.log = [&](Severity severity, std::string_view text) {
      const std::lock_guard lock(mutex_);
      if (severity == Severity::warning && text.find("too little memory") != std::string_view::npos) reported.emplace_back(text);
    };
    return bert_.load(std::move(options));
  };
  const auto free = std::make_shared<Runtime>();
  const Encoder usual = load_within(256, free);
  usual.prepare();   // contexts for all threads that give it work, however many of them find some
  encode(usual);
  const std::int64_t enough = free->gpu_memory().at(0).max_used_bytes;
  const Encoder encoder =
      load_within(1024, std::make_shared<Runtime>(RuntimeOptions{.log = {}, .gpu_memory_limit = enough, .allocator = {}}));
  EXPECT_EQ(of_gpus(encode(encoder)), static_cast<std::int64_t>(kTexts));
  EXPECT_EQ(encoder.devices()[0].lost, "");
  ASSERT_FALSE(reported.empty());
  EXPECT_NE(reported[0].find("batches of 1024 tokens, and goes on with 512"), std::string::npos) << reported[0];
  EXPECT_LE(reported.size(), 3u);
}

TEST_F(EncoderDevices, WhereNoneWorksAllReasonsAreTold) {
  fake_->failures[1] = fake_->failures[0] = 2;
  const Encoder encoder = load({"cuda:1", "cuda:0"});
  for (int again = 0; again < 2; ++again) try {
      encode(encoder);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("no device is left; 'cuda:1': "), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("; 'cuda:0': "), std::string::npos) << e.what();
    }
  fake_->failures.clear();
  EXPECT_EQ(encode(encoder).size(), kTexts * kWidth) << "the next call tries them again";
}

}  // namespace
}  // namespace tenfold
