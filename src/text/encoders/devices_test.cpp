// An encoder on several sets of processors: the vectors are those of one device, wherever a text was computed.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::encoders {
namespace {

// Texts of many lengths, no two of which are alike.
std::vector<std::string> many_texts(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t n = i; n > 0; n /= 4) text += std::string(text.empty() ? "" : " ") + "abcd"[n % 4];
    texts.push_back(text);
  }
  return texts;
}
std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<int> own_processors() {
  cpu_set_t own;
  std::vector<int> all;
  if (sched_getaffinity(0, sizeof own, &own) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(static_cast<std::size_t>(i), &own)) all.push_back(i);
  return all;
}
// The first two processors as devices, or the only one twice.
std::vector<std::string> two_sets() {
  const std::vector<int> own = own_processors();
  return {"cpu:" + std::to_string(own.front()), "cpu:" + std::to_string(own.size() > 1 ? own[1] : own[0])};
}

EncoderOptions on(std::vector<std::string> devices, DeviceStrategy strategy = DeviceStrategy::automatic) {
  EncoderOptions options;
  options.devices = std::move(devices), options.strategy = strategy, options.batch_tokens = 64;
  return options;
}

class Strategies : public ::testing::TestWithParam<DeviceStrategy> {};
TEST_P(Strategies, VectorsAreThoseOfOneDevice) {
  const TinyBert bert("devices");
  const std::vector<std::string> texts = many_texts(600);
  const std::vector<float> expected = bert.load().encode(views(texts));
  for (const std::vector<std::string>& devices : {two_sets(), std::vector<std::string>{"cpu", "cpu", "cpu"}}) {
    const Encoder encoder = bert.load(on(devices, GetParam()));
    std::size_t last = 0;
    const auto progress = [&](std::size_t ready, std::size_t total) {
      EXPECT_GT(ready, last);
      EXPECT_EQ(total, 600u);
      last = ready;
      return true;
    };
    const std::vector<float> got = encoder.encode(views(texts), {.prompt = "", .progress = progress});
    EXPECT_EQ(last, 600u);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5f) << texts[i / 8];
    std::int64_t sum = 0;
    ASSERT_EQ(encoder.devices().size(), devices.size());
    for (const DeviceWork& one : encoder.devices()) {
      sum += one.texts;
      EXPECT_EQ(one.lost, "");
      if (GetParam() == DeviceStrategy::round_robin) {
        EXPECT_GT(one.texts, 0) << one.device;
      }
    }
    EXPECT_EQ(sum, 600);
    EXPECT_EQ(encoder.counts().texts, 600);
  }
}
INSTANTIATE_TEST_SUITE_P(Devices, Strategies,
                         ::testing::Values(DeviceStrategy::automatic, DeviceStrategy::round_robin, DeviceStrategy::memory,
                                           DeviceStrategy::utilization));

TEST(Devices, OneTextAndNoneAndManyCallers) {
  const TinyBert bert("callers");
  const std::vector<std::string> texts = many_texts(40);
  const std::vector<float> expected = bert.load().encode(views(texts));
  const Encoder encoder = bert.load(on(two_sets()));
  encoder.prepare();
  EXPECT_TRUE(encoder.encode(std::vector<std::string_view>{}).empty());
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::vector<float> one = encoder.encode(std::vector<std::string_view>{texts[i]});
        for (std::size_t c = 0; c < 8; ++c) EXPECT_NEAR(one[c], expected[i * 8 + c], 1e-5f);
      }
    });
  for (std::thread& one : callers) one.join();
  for (const DeviceWork& one : encoder.devices()) EXPECT_EQ(one.texts, 80) << "calls of one text take turns";
}

// Prompts that pooling leaves out, several modules behind it, and texts of one window more than once.
TEST(Devices, APipelineGivesTheSameVectors) {
  TinyBert bert("pipeline");
  bert.pool(R"({"word_embedding_dimension": 8, "pooling_mode": ["mean", "max", "lasttoken"], "include_prompt": false})");
  const std::vector<std::string> texts = many_texts(300);
  EncoderOptions cut;
  cut.normalize = true, cut.dimensions = 20;
  const Encoder alone = bert.load(cut);
  for (const std::vector<std::string>& devices : {std::vector<std::string>{"cpu", two_sets()[1]}, {"cpu", "cpu", "cpu"}}) {
    EncoderOptions options = on(devices, DeviceStrategy::pipeline);
    options.normalize = true, options.dimensions = 20;
    const Encoder encoder = bert.load(std::move(options));
    encoder.prepare();
    for (const char* prompt : {"", "a b "}) {
      const EncodeCall call{.prompt = prompt, .progress = {}};
      const std::vector<float> expected = alone.encode(views(texts), call), got = encoder.encode(views(texts), call);
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5f) << texts[i / 20];
    }
    EXPECT_EQ(encoder.devices().back().texts, 600) << "the last device makes all vectors";
    EXPECT_EQ(encoder.counts().texts, 600);
    EXPECT_EQ(encoder.encode_tokens(views(texts)).size(), 300u);
    EXPECT_EQ(encoder.devices().back().texts, 600) << "vectors of tokens need none";
  }
  EXPECT_THROW(bert.load(on({"cpu"}, DeviceStrategy::pipeline)), Error);
}

TEST(Devices, CallersKeepTheirProcessors) {
  const TinyBert bert("affinity");
  const std::vector<int> before = own_processors();
  const Encoder encoder = bert.load(on({two_sets()[0]}));
  encoder.prepare();
  encoder.encode(std::vector<std::string_view>{"a b"});
  EXPECT_EQ(own_processors(), before);
}

TEST(Devices, CancellingEndsAllOfThem) {
  const TinyBert bert("cancel");
  const std::vector<std::string> texts = many_texts(400);
  const Encoder encoder = bert.load(on({"cpu", "cpu"}));
  try {
    encoder.encode(views(texts), {.prompt = "", .progress = [](std::size_t, std::size_t) { return false; }});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::cancelled);
  }
  EXPECT_EQ(encoder.encode(views(texts)).size(), 3200u) << "the devices still work";
}

TEST(Devices, RefusesWrongNames) {
  const TinyBert bert("names");
  const int own = own_processors().back();
  for (const auto& [name, words] : std::map<std::string, std::string>{{"gpu", "is none"},
                                                                      {"cpu:", "has no number at ''"},
                                                                      {"cpu:3-x", "has no number at 'x'"},
                                                                      {"cpu:5-2", "ends before it begins"},
                                                                      {"cuda:one", "has no number at 'one'"},
                                                                      {"cpu:" + std::to_string(own + 1), "may not use"}}) {
    try {
      bert.load(on({"cpu", name}));
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace tenfold::encoders
