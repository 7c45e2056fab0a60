// Served encoders without a server: which texts of several requests run together, and what each request gets.
#include "tenfold/serving/served_encoder.h"

#include <gtest/gtest.h>

#include <memory>

#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold {
namespace {

using encoders::TinyBert;

// A request of tokenized texts, and what became of it.
class Request final : public ServedRequest {
 public:
  explicit Request(TextWork work) : work_(std::move(work)) {}
  std::span<const RequestInput> inputs() const override { return {}; }
  const TextWork* text_work() const override { return &work_; }
  void* output_memory(int, std::span<const std::int64_t> shape, std::int64_t bytes) override {
    rows.assign(static_cast<std::size_t>(bytes) / sizeof(float), 77);
    EXPECT_EQ(shape[0], static_cast<std::int64_t>(work_.texts.size()));
    return rows.data();
  }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    ++finished;
    if (outcome.error) error = outcome.error->what();
  }

  std::vector<float> rows;
  int finished = 0;
  std::string error;

 private:
  TextWork work_;
};

const std::vector<std::vector<std::string>> kRequests{{"a b c d"}, {"a", "dab . c"}, {"b"}, {"c d a b a b", "a b"}};

class ServedEncoders : public ::testing::Test {
 protected:
  std::shared_ptr<ServedEncoder> open(std::optional<bool> packed) {
    ServedEncoderOptions options;
    options.encoder.build.optimization_level = 0, options.encoder.build.threads = 1;
    options.encoder.cache.reset();
    options.encoder.packed = packed;
    options.max_batch = 16;
    return open_served_encoder(bert_.path, options);
  }
  // Runs all requests as one batch, compares their rows with those of texts alone, and tells how many runs that took.
  std::int64_t runs_of(std::optional<bool> packed) {
    const std::shared_ptr<ServedEncoder> model = open(packed);
    const std::unique_ptr<ServedInstance> instance = model->create_instance("cpu");
    std::vector<std::unique_ptr<Request>> requests;
    std::vector<ServedRequest*> batch;
    for (const auto& texts : kRequests) {
      TextWork work;
      for (const std::string& text : texts) work.texts.push_back(model->encoder().tokenize(text));
      batch.push_back(requests.emplace_back(std::make_unique<Request>(std::move(work))).get());
    }
    const std::int64_t before = model->encoder().counts().runs;
    instance->run(batch);
    const std::int64_t runs = model->encoder().counts().runs - before;
    const Encoder alone = bert_.load();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(requests[i]->error, "");
      EXPECT_EQ(requests[i]->finished, 1);
      EXPECT_EQ(requests[i]->rows.size(), kRequests[i].size() * TinyBert::kWidth);
      for (std::size_t text = 0; text < kRequests[i].size() && !requests[i]->rows.empty(); ++text)
        expect_near(std::span(requests[i]->rows).subspan(text * TinyBert::kWidth, TinyBert::kWidth), alone, kRequests[i][text]);
    }
    return runs;
  }

  TinyBert bert_{"served"};

 private:
  static void expect_near(std::span<const float> got, const Encoder& alone, const std::string& text) {
    const std::string_view texts[] = {text};
    const std::vector<float> expected = alone.encode(texts);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5f) << text << ", element " << i;
  }
};

TEST_F(ServedEncoders, RequestsOfSeveralLengthsAreOneRun) { EXPECT_EQ(runs_of(std::nullopt), 1); }

TEST_F(ServedEncoders, TextsRunLengthByLengthWhereTheyAreNotPacked) { EXPECT_EQ(runs_of(false), 5); }

// No form without padding is known of maxima over tokens.
TEST_F(ServedEncoders, ModelsThatCannotBePackedRunLengthByLength) {
  bert_.pool(R"({"embedding_dimension": 8, "pooling_mode": "max"})");
  EXPECT_EQ(runs_of(std::nullopt), 5);
}

}  // namespace
}  // namespace tenfold
