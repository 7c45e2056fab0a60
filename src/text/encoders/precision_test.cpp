// int8 under a bound on the cosine to vectors of fp32, which are this test's truth, too; and what encoders are told apart by.
#include "text/encoders/precision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::encoders {
namespace {

constexpr std::size_t kTexts = 60;

class Precision : public ::testing::Test {
 protected:
  Precision() {
    for (std::size_t i = 0; i < kTexts; ++i) {
      std::string text;
      for (std::size_t n = 3 * i + 1; n > 0; n /= 4) text += std::string(text.empty() ? "" : " ") + "abcd"[n % 4];
      texts_.push_back(text);
    }
    expected_ = encode(bert_.load());
  }
  EncoderOptions options(EncoderPrecision precision, double min_cosine = 0.99) {
    EncoderOptions o;
    o.precision = precision, o.min_cosine = min_cosine, o.calibration_texts = texts_;
    o.build.log = [this](Severity severity, std::string_view text) {
      if (severity == Severity::warning) reported_ += std::string(text) + "\n";
    };
    return o;
  }
  std::vector<float> encode(const Encoder& encoder) const {
    return encoder.encode(std::vector<std::string_view>(texts_.begin(), texts_.end()));
  }
  // The mean over the texts that the library compares: every other one.
  double cosine(std::span<const float> got) const {
    double sum = 0;
    for (std::size_t i = 1; i < kTexts; i += 2) {
      double ab = 0, aa = 0, bb = 0;
      for (std::size_t c = 8 * i; c < 8 * i + 8; ++c) ab += got[c] * expected_[c], aa += got[c] * got[c], bb += expected_[c] * expected_[c];
      sum += ab / std::sqrt(aa * bb);
    }
    return sum / (kTexts / 2);
  }
  TinyBert bert_{"precision"};
  std::vector<std::string> texts_;
  std::vector<float> expected_;
  std::string reported_;
};

TEST_F(Precision, Int8IsTakenWhereItIsNear) {
  const Encoder encoder = bert_.load(options(EncoderPrecision::int8, 0.9));
  EXPECT_EQ(encoder.devices()[0].precision, "");
  const double near = cosine(encode(encoder));
  const DeviceWork work = encoder.devices()[0];
  EXPECT_EQ(work.precision, "int8");
  EXPECT_NEAR(work.int8_cosine, near, 1e-5);
  EXPECT_LT(near, 1 - 1e-6) << "these are vectors of fp32";
  EXPECT_EQ(reported_.find("not accurate enough"), std::string::npos) << reported_;
}

TEST_F(Precision, WhatIsTooFarIsTold) {
  const Encoder encoder = bert_.load(options(EncoderPrecision::int8, 1));
  encoder.prepare();
  const DeviceWork work = encoder.devices()[0];
  EXPECT_NE(work.precision, "int8");
  EXPECT_GT(work.int8_cosine, 0.5);
  EXPECT_LT(work.int8_cosine, 1);
  EXPECT_NE(reported_.find("int8 is not accurate enough, so that " + work.precision + " is taken"), std::string::npos) << reported_;
}

TEST_F(Precision, WithoutTextsExamplesAreTaken) {
  EncoderOptions o = options(EncoderPrecision::int8, 0.5);
  o.calibration_texts.clear();
  const Encoder encoder = bert_.load(std::move(o));
  EXPECT_NE(reported_.find("int8 without calibration_texts: ten built-in sentences"), std::string::npos) << reported_;
  encoder.prepare();
  EXPECT_EQ(encoder.devices()[0].precision, "int8");
}

// Those of the first profile end at 64 tokens.
TEST_F(Precision, TextsOfAnyLengthGiveRangesAndCheck) {
  constexpr std::size_t kPlaces = 120;
  bert_.add("embeddings.position_embeddings.weight", {kPlaces, TinyBert::kWidth});
  bert_.save();
  nlohmann::json config = TinyBert::config();
  config["max_position_embeddings"] = kPlaces;
  bert_.write_json("config.json", config);
  for (std::size_t i = 0; i < kTexts; ++i) {
    texts_[i].clear();
    for (std::size_t n = 0; n < 2 + 37 * i % (kPlaces - 4); ++n) texts_[i] += std::string(n == 0 ? "" : " ") + "abcd"[(n * n + i) % 4];
  }
  expected_ = encode(bert_.load());
  const Encoder encoder = bert_.load(options(EncoderPrecision::int8, 0.8));
  const double near = cosine(encode(encoder));
  EXPECT_EQ(encoder.devices()[0].precision, "int8") << reported_;
  EXPECT_NEAR(encoder.devices()[0].int8_cosine, near, 1e-5);
  EXPECT_EQ(reported_.find("is not known"), std::string::npos) << reported_;
}

TEST_F(Precision, Fp32IsWhatItWas) {
  const Encoder encoder = bert_.load(options(EncoderPrecision::fp32));
  EXPECT_EQ(encode(encoder), expected_);
  EXPECT_EQ(encoder.devices()[0].precision, "fp32");
  EXPECT_EQ(encoder.devices()[0].int8_cosine, -1);
}

TEST_F(Precision, IsKnownOfPlansInTheCache) {
  const std::string folder = bert_.path + "-plans";
  const auto load = [&] {
    EncoderOptions o = options(EncoderPrecision::int8, 0.9);
    o.build.optimization_level = 0, o.build.threads = 1, o.cache->folder = folder;
    return Encoder::load(bert_.path, std::move(o));
  };
  const Encoder first = load(), second = load();
  const std::vector<float> made = encode(first);
  EXPECT_EQ(encode(second), made);
  EXPECT_EQ(second.devices()[0].precision, "int8");
  EXPECT_EQ(second.devices()[0].int8_cosine, -1) << "it was judged when it was made";
  std::filesystem::remove_all(folder);
}

TEST_F(Precision, APipelinesTokensAreInt8) {
  EncoderOptions o = options(EncoderPrecision::int8, 0.9);
  o.devices = {"cpu", "cpu"}, o.strategy = DeviceStrategy::pipeline;
  const Encoder encoder = bert_.load(std::move(o));
  EXPECT_GT(cosine(encode(encoder)), 0.9);
  EXPECT_EQ(encoder.devices()[0].precision, "int8");
  EXPECT_NE(encoder.devices()[1].precision, "int8");
}

TEST_F(Precision, RefusesABoundThatIsNone) {
  for (const double bound : {0.0, 1.5, std::nan("")}) EXPECT_THROW(bert_.load(options(EncoderPrecision::int8, bound)), Error);
  EXPECT_THROW(parse_encoder_precision("int4"), Error);
}

TEST_F(Precision, FingerprintsTellEncodersApart) {
  const std::string same = bert_.load().fingerprint();
  EXPECT_EQ(bert_.load().fingerprint(), same);
  std::set<std::string> all{same};
  EncoderOptions shorter;
  shorter.dimensions = 4;
  all.insert(bert_.load(std::move(shorter)).fingerprint());
  all.insert(bert_.load(options(EncoderPrecision::int8)).fingerprint());
  all.insert(bert_.load(options(EncoderPrecision::int8, 0.5)).fingerprint());
  bert_.weights.begin()->second.second[0] += 1;
  bert_.save();
  all.insert(bert_.load().fingerprint());
  bert_.write("tokenizer_config.json", R"({"do_lower_case": false})");
  all.insert(bert_.load().fingerprint());
  EXPECT_EQ(all.size(), 6u);
  bert_.write("added_tokens.json", "");
  EXPECT_EQ(all.count(bert_.load().fingerprint()), 0u) << "also a file without bytes counts";
}

}  // namespace
}  // namespace tenfold::encoders
