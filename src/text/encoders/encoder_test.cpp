// A random BERT: batches, pooling by the vectors of tokens, what is cut and counted, folders that disagree. The truth of whole models is in
// python/tests/embeddings_test.py.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

#include "tenfold/internal/interrupts.h"
#include "text/transformers/safetensors.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::encoders {

using transformers::read_table;

namespace {

using Texts = std::vector<std::string_view>;

std::string refusal(const std::function<void()>& act, ErrorKind kind) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

float difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  float max = 0;
  for (std::size_t i = 0; i < a.size(); ++i) max = std::max(max, std::abs(a[i] - b[i]));
  return max;
}

TEST(Encoder, AVectorDoesNotDependOnTheBatch) {
  const TinyBert bert("batch");
  const Encoder encoder = bert.load();
  const Texts texts{"a b c d", "a", "", "dab . c", "b", "c d a b a b"};
  const std::vector<float> all = encoder.encode(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> one = encoder.encode(Texts{texts[i]});
    EXPECT_LE(difference(one, std::span(all).subspan(i * 8, 8)), 1e-5f) << texts[i];
  }
  EXPECT_EQ(encoder.counts().texts, 12);
  EXPECT_EQ(encoder.counts().truncated, 0);
  EXPECT_TRUE(encoder.encode(Texts{}).empty());
}

// As on GPUs: all lengths in one run. A build that finds nothing to pack would say so.
TEST(Encoder, PackedTextsHaveTheSameVectors) {
  TinyBert bert("packed");
  const Texts texts{"a b c d", "a", "", "dab . c", "b", "c d a b a b"};
  for (const char* pooling : {"mean", "cls"}) {
    bert.pool(nlohmann::json{{"embedding_dimension", 8}, {"pooling_mode", pooling}}.dump());
    EncoderOptions options;
    options.packed = true;
    options.build.log = [](Severity severity, std::string_view text) {
      if (severity == Severity::warning) ADD_FAILURE() << text;
    };
    const Encoder packed = bert.load(options);
    const std::vector<float> got = packed.encode(texts);
    EXPECT_EQ(packed.counts().runs, 1);
    EXPECT_EQ(packed.counts().tokens, 29);
    EXPECT_LE(difference(got, bert.load().encode(texts)), 1e-5f) << pooling;
    EXPECT_LE(difference(packed.encode(Texts{texts[5]}), std::span(got).last(8)), 1e-5f) << pooling;
  }
  // What knows no mask, and what leaves tokens out, is computed length by length.
  bert.pool(R"({"embedding_dimension": 8, "pooling_mode": "max"})");
  EncoderOptions options;
  options.packed = true;
  const Encoder by_length = bert.load(options);
  EXPECT_LE(difference(by_length.encode(texts), bert.load().encode(texts)), 1e-5f);
  EXPECT_GT(by_length.counts().runs, 1);
}

TEST(Encoder, PoolsTheVectorsOfTokens) {
  TinyBert bert("pooling");
  bert.pool(R"({"embedding_dimension": 8, "pooling_mode": ["mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean"]})");
  const Encoder encoder = bert.load();
  const Texts text{"a b . c"};
  const TokenVectors tokens = encoder.encode_tokens(text)[0];
  const std::vector<float> got = encoder.encode(text);
  ASSERT_EQ(tokens.size, 6);
  ASSERT_EQ(got.size(), 48u);
  for (std::size_t c = 0; c < 8; ++c) {
    const auto at = [&](std::size_t t) { return tokens.values[t * 8 + c]; };
    float sum = 0, weighted = 0, max = at(0);
    for (std::size_t t = 0; t < 6; ++t) sum += at(t), weighted += at(t) * static_cast<float>(t + 1), max = std::max(max, at(t));
    const float expected[] = {sum / 6, at(0), max, at(5), sum / std::sqrt(6.0f), weighted / 21};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(got[k * 8 + c], expected[k], 1e-5f) << k;
  }
}

TEST(Encoder, LeavesPromptsOutOfTheMean) {
  TinyBert bert("prompt");
  bert.pool(R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true, "include_prompt": false})");
  const Encoder encoder = bert.load();
  const TokenVectors tokens = encoder.encode_tokens(Texts{"a b c"})[0];  // [C] a b c [S]
  const std::vector<float> got = encoder.encode(Texts{"c"}, {.prompt = "a b ", .progress = {}});
  for (std::size_t c = 0; c < 8; ++c) EXPECT_NEAR(got[c], (tokens.values[24 + c] + tokens.values[32 + c]) / 2, 1e-5f);
}

TEST(Encoder, CutsAndNormalizes) {
  const TinyBert bert("cut");
  EncoderOptions options;
  options.dimensions = 3, options.normalize = true, options.max_tokens = 5;
  std::vector<std::string> reported;
  options.build.log = [&](Severity severity, std::string_view text) {
    if (severity == Severity::warning) reported.emplace_back(text);
  };
  const Encoder encoder = bert.load(options);
  EXPECT_EQ(encoder.info().width, 3);
  const std::vector<float> got = encoder.encode(Texts{"a b c d", "a b c", "a b c a b"});
  EXPECT_LE(difference(std::span(got).first(3), std::span(got).subspan(3, 3)), 1e-5f);  // cut to [C] a b c [S]
  EXPECT_NEAR(std::hypot(got[0], got[1], got[2]), 1, 1e-5);
  EXPECT_EQ(encoder.counts().truncated, 2);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_SAYS(reported[0], "text 0 has 6 tokens and is cut to 5");
}

TEST(Encoder, TakesTheFoldersDimensionsUnlessTold) {
  const TinyBert bert("dimensions");
  bert.write("config_sentence_transformers.json", R"({"truncate_dim": 3})");
  const auto load = [&](int dimensions) {
    EncoderOptions options;
    options.dimensions = dimensions;
    return bert.load(std::move(options));
  };
  EXPECT_EQ(load(0).info().width, 3);
  EXPECT_EQ(load(5).info().width, 5);
  EXPECT_EQ(load(kAllDimensions).info().width, 8);
  EXPECT_EQ(load(0).info().truncate_dim, 3);
  EXPECT_SAYS(refusal([&] { load(9); }, ErrorKind::invalid_argument), "dimensions is 9, but vectors of");
  EXPECT_SAYS(refusal([&] { load(-2); }, ErrorKind::invalid_argument), "dimensions is -2");
  const std::vector<float> cut = load(0).encode(Texts{"a b"}), all = load(kAllDimensions).encode(Texts{"a b"});
  EXPECT_LE(difference(cut, std::span(all).first(3)), 1e-5f);
}

TEST(Encoder, LetsNoNanLeave) {
  TinyBert bert("nan");
  bert.weights.at("embeddings.word_embeddings.weight").second[4 * 8 + 2] = std::numeric_limits<float>::quiet_NaN();  // of "b"
  bert.save();
  const Encoder encoder = bert.load();
  EXPECT_EQ(encoder.encode(Texts{"a c"}).size(), 8u);
  EXPECT_SAYS(refusal([&] { encoder.encode(Texts{"a", "c", "a b"}); }, ErrorKind::invalid_model), "text 2 has a vector that is not finite");
}

TEST(Encoder, TellsTheIdsThatTheModelGets) {
  const TinyBert bert("ids");
  EncoderOptions options;
  options.max_tokens = 5;
  const Encoder encoder = bert.load(options);
  EXPECT_EQ(encoder.token_ids("a b"), (std::vector<std::int32_t>{1, 3, 4, 2}));
  EXPECT_EQ(encoder.token_ids("a b c d", "d "), (std::vector<std::int32_t>{1, 6, 3, 4, 2}));
  bert.write("tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_EQ(bert.load(options).token_ids("a b c d", "d "), (std::vector<std::int32_t>{1, 4, 5, 6, 2}));
}

// What tokenize() gives is computed as the text is.
TEST(Encoder, EncodesIds) {
  const TinyBert bert("own_ids");
  EncoderOptions options;
  options.max_tokens = 5;
  const Encoder encoder = bert.load(options);
  const Texts texts{"a b", "a b c d", "d"};
  std::vector<TokenizedText> tokenized;
  for (const std::string_view text : texts) tokenized.push_back(encoder.tokenize(text, "c "));
  EXPECT_EQ(tokenized[1].length, 7u);
  EXPECT_EQ(tokenized[1].ids.size(), 5u);
  EXPECT_EQ(encoder.tokenize("a b c d", {}, KeptTokens::last).ids, (std::vector<std::int32_t>{1, 4, 5, 6, 2}));
  const std::vector<TokenIds> ids(tokenized.begin(), tokenized.end());
  EXPECT_LE(difference(encoder.encode(ids), encoder.encode(texts, {.prompt = "c ", .progress = {}})), 1e-6f);
  EXPECT_EQ(encoder.encode_tokens(ids)[0].size, 5);
}

TEST(Encoder, GivesErrorsByText) {
  const TinyBert bert("by_text");
  const Encoder encoder = bert.load();
  std::map<std::size_t, std::string> told;
  EncodeCall call;
  call.failed = [&](std::size_t text, const Error& error) { told[text] = error.what(); };
  const Texts texts{"a b", "\xff", "d"};
  const std::vector<float> all = encoder.encode(texts, call);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_SAYS(told[1], "UTF-8");
  EXPECT_LE(difference(std::span(all).first(8), encoder.encode(Texts{"a b"})), 1e-5f);
  EXPECT_LE(difference(std::span(all).last(8), encoder.encode(Texts{"d"})), 1e-5f);
  for (int i = 8; i < 16; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 0);
  refusal([&] { encoder.encode(texts); }, ErrorKind::invalid_argument);

  told.clear();
  const std::vector<std::int32_t> right{1, 3, 2}, beyond{1, encoder.info().vocabulary, 2}, negative{-1}, none, types{0, 2, 0};
  const std::vector<std::int32_t> long_one(static_cast<std::size_t>(encoder.info().max_tokens) + 1, 3);
  const std::vector<TokenIds> ids{{right}, {beyond}, {negative}, {none}, {long_one}, {right, types}, {right}};
  const std::vector<float> rows = encoder.encode(ids, call);
  EXPECT_EQ(told.size(), 5u);
  EXPECT_SAYS(told[1], "the vocabulary has the ids 0 to");
  EXPECT_SAYS(told[3], "no tokens");
  EXPECT_SAYS(told[5], "the type 2");
  EXPECT_LE(difference(std::span(rows).first(8), std::span(rows).last(8)), 1e-6f);
  EXPECT_SAYS(refusal([&] { encoder.encode(ids); }, ErrorKind::invalid_argument), "text 1 has the id");
}

// One text's NaN is told as its own, and harms none of those beside it.
TEST(Encoder, TellsWhichVectorIsNotFinite) {
  TinyBert bert("one_nan");
  auto& table = bert.weights.at("embeddings.word_embeddings.weight").second;
  for (std::size_t i = 0; i < TinyBert::kWidth; ++i) table[6 * TinyBert::kWidth + i] = std::numeric_limits<float>::quiet_NaN();   // of d
  bert.save();
  const Encoder encoder = bert.load();
  std::vector<std::size_t> told;
  EncodeCall call;
  call.failed = [&](std::size_t text, const Error&) { told.push_back(text); };
  const std::vector<float> all = encoder.encode(Texts{"a b", "a d", "b c"}, call);
  EXPECT_EQ(told, (std::vector<std::size_t>{1}));
  EXPECT_LE(difference(std::span(all).last(8), encoder.encode(Texts{"b c"})), 1e-5f);
  refusal([&] { encoder.encode(Texts{"a b", "a d"}); }, ErrorKind::invalid_model);
}

TEST(Encoder, StopsByTokenAndDeadline) {
  const TinyBert bert("stopped");
  const Encoder encoder = bert.load();
  EncodeCall call;
  call.run.token = CancelToken::create();
  EXPECT_EQ(encoder.encode(Texts{"a"}, call).size(), 8u);
  call.run.token.cancel();
  refusal([&] { encoder.encode(Texts{"a"}, call); }, ErrorKind::cancelled);
  EncodeCall late;
  late.run.deadline = std::chrono::steady_clock::now();
  EXPECT_SAYS(refusal([&] { encoder.encode(Texts{"a"}, late); }, ErrorKind::cancelled), "deadline");
  EXPECT_EQ(encoder.encode(Texts{"a"}).size(), 8u);
}

// By whoever is asked during long work: while texts are read, between runs, while other threads compute, in a build.
TEST(Encoder, EndsWhereItIsInterrupted) {
  const TinyBert bert("interrupted");
  const Texts texts(20000, "a b c d a b");
  for (const std::vector<std::string>& devices : {std::vector<std::string>{"cpu"}, {"cpu", "cpu"}}) {
    EncoderOptions options;
    options.devices = devices;
    const Encoder encoder = bert.load(std::move(options));
    bool goes_on = false;
    const Interrupts interrupts([&goes_on] { return goes_on; });
    refusal([&] { encoder.prepare(); }, ErrorKind::cancelled);
    refusal([&] { encoder.encode(texts); }, ErrorKind::cancelled);
    goes_on = true;
    std::size_t done = 0;
    const EncodeCall call{.prompt = {}, .progress = [&](std::size_t ready, std::size_t) {
                            goes_on = false, done = ready;
                            return true;
                          }};
    refusal([&] { encoder.encode(texts, call); }, ErrorKind::cancelled);
    EXPECT_GT(done, 0u);
    EXPECT_LT(done, texts.size());
    goes_on = true;
    const std::vector<float> all = encoder.encode(texts);
    EXPECT_LE(difference(std::span(all).first(8), std::span(all).last(8)), 1e-5f);
  }
}

TEST(Encoder, TakesAnEngineOfTheCallers) {
  const TinyBert bert("own_engine");
  std::vector<std::string> keys;
  EncoderOptions options;
  options.build.optimization_level = 0, options.build.threads = 1, options.cache.reset();
  options.make_engine = [&](Network network, const BuildConfig& config, const std::string& key) {
    keys.push_back(key);
    return build(network, config);
  };
  const Encoder encoder = Encoder::load(bert.path, options);
  EXPECT_TRUE(keys.empty());
  const Texts texts{"a b c d", "a"};
  EXPECT_LE(difference(encoder.encode(texts), bert.load().encode(texts)), 1e-6f);
  encoder.encode(texts), encoder.encode_tokens(texts);
  ASSERT_EQ(keys.size(), 1u);   // vectors of tokens come from an engine of the library's own
  EXPECT_SAYS(keys[0], "tenfold ");

  options.make_engine = [](Network, const BuildConfig& config, const std::string&) {
    Network other;
    other.mark_output(other.activation(Activation::relu, other.input("x", DType::f32, {2})), "y");
    BuildConfig plain = config;
    plain.profiles.clear();
    return build(other, plain);
  };
  EXPECT_SAYS(refusal([&] { Encoder::load(bert.path, options).encode(texts); }, ErrorKind::invalid_argument), "make_engine gave has x, y;");
}

TEST(Encoder, RefusesFoldersThatDisagree) {
  TinyBert bert("wrong");
  const auto load = [&] { bert.load(); };
  bert.pool(R"({"word_embedding_dimension": 9, "pooling_mode_mean_tokens": true})");
  EXPECT_SAYS(refusal(load, ErrorKind::invalid_model), "word_embedding_dimension is 9, but vectors of tokens have 8");
  bert.pool(R"({"pooling_mode": "middle"})");
  EXPECT_SAYS(refusal(load, ErrorKind::unsupported), "the pooling 'middle' is not supported; cls, max, mean");
  bert.pool(R"({"pooling_mode": "mean"})");
  bert.add("embeddings.word_embeddings.weight", {9, 8});
  bert.save();
  EXPECT_SAYS(refusal(load, ErrorKind::invalid_model), "'embeddings.word_embeddings.weight'");
  nlohmann::json config = TinyBert::config();
  config["vocab_size"] = 9;
  bert.write_json("config.json", config);
  EXPECT_SAYS(refusal(load, ErrorKind::invalid_model), "has 10 tokens, but the weights have embeddings for 9");
  config["model_type"] = "newest";
  bert.write_json("config.json", config);
  EXPECT_SAYS(refusal(load, ErrorKind::unsupported), "model_type 'newest'");
  bert.write_json("config.json", TinyBert::config());
  std::filesystem::rename(bert.path + "/model.safetensors", bert.path + "/pytorch_model.bin");
  EXPECT_SAYS(refusal(load, ErrorKind::unsupported), "pickle");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  const auto read = [](const std::string& table, std::size_t bytes) {
    std::uint64_t length = table.size();
    const std::string file = std::string(reinterpret_cast<const char*>(&length), 8) + table + std::string(bytes, '\0');
    return refusal([&] { read_table(file, file.size(), "t"); }, ErrorKind::invalid_model);
  };
  EXPECT_SAYS(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12), "after a hole");
  EXPECT_SAYS(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),
              "inside the one before it");
  EXPECT_SAYS(read(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8), "needs 12");
  EXPECT_SAYS(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9), "there are 9");
  EXPECT_SAYS(read("[", 0), "no JSON");
}

}  // namespace
}  // namespace tenfold::encoders
