// A random Llama: batches, pieces, forks, what is refused. The truth of whole models is in python/tests/decoders_test.py.
#include "tenfold/decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tenfold/inspect.h"
#include "text/decoders/tiny_llama_for_tests.h"

namespace tenfold::decoders {
namespace {

using Ids = std::vector<std::int32_t>;

float difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  float max = 0;
  for (std::size_t i = 0; i < a.size(); ++i) max = std::max(max, std::abs(a[i] - b[i]));
  return max;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

template <class Call>
void expect_refused(const Call& call, ErrorKind kind, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Decoder, PiecesAndBatchesGiveTheLogitsOfTheWhole) {
  const TinyLlama llama("pieces");
  const Ids ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 3, 5, 7, 9, 2, 4, 6, 8, 10, 1, 1, 2, 2};   // all places
  const std::vector<float> whole = copy(llama.load().start().append(std::vector<Ids>{ids}));
  for (const int chunk : {1, 2, 7, 16}) {
    const Decoder decoder = llama.load(2, chunk);
    DecoderSession session = decoder.start(2);
    const std::vector<Ids> first{{ids.begin(), ids.begin() + 20}, {5, 6}}, second{{ids.begin() + 20, ids.end()}, {}};
    session.append(first);
    const std::vector<float> rows = copy(session.append(second));
    const std::span all(rows);
    EXPECT_LE(difference(all.first(12), whole), 1e-5f) << chunk;
    EXPECT_EQ(copy(all.subspan(12)), std::vector<float>(12, 0.0f));
    EXPECT_EQ(session.ids(1).size(), 2u);
    session.truncate(0, 3);   // the other one goes on behind its own tokens
    const std::vector<float> more = copy(session.append(std::vector<Ids>{{4}, {7, 8, 9}}));
    EXPECT_LE(difference(std::span(more).subspan(12), llama.load().start().append(std::vector<Ids>{{5, 6, 7, 8, 9}})), 1e-5f) << chunk;
  }
}

TEST(Decoder, AForkGoesItsOwnWay) {
  const TinyLlama llama("fork");
  const Decoder decoder = llama.load();
  DecoderSession a = decoder.start();
  a.append(std::vector<Ids>{{1, 2, 3}});
  DecoderSession b = a.fork();
  const std::vector<float> with_4 = copy(a.append(std::vector<Ids>{{4}})), with_5 = copy(b.append(std::vector<Ids>{{5}}));
  EXPECT_LE(difference(with_4, decoder.start().append(std::vector<Ids>{{1, 2, 3, 4}})), 1e-5f);
  EXPECT_LE(difference(with_5, decoder.start().append(std::vector<Ids>{{1, 2, 3, 5}})), 1e-5f);
}

TEST(Decoder, GoesOnAfterACancelledCall) {
  const TinyLlama llama("cancel");
  const Decoder decoder = llama.load();
  const std::vector<Ids> prompt{{1, 2, 3}};
  GenerateCall call{.max_tokens = 12, .ignore_end = true};
  const Generated expected = decoder.generate_ids(prompt, call).front();
  EXPECT_EQ(expected.ids.size(), 12u);
  for (std::size_t at = 0; at <= 12; ++at) {   // at any token
    GenerateCall cut = call;
    cut.run.token = CancelToken::create();
    if (at == 0) cut.run.token.cancel();
    std::size_t seen = 0;
    cut.token = [&](std::size_t, std::int32_t, std::string_view) {
      if (++seen == at) cut.run.token.cancel();
      return true;
    };
    const Generated some = decoder.generate_ids(prompt, cut).front();
    EXPECT_EQ(some.ids, Ids(expected.ids.begin(), expected.ids.begin() + static_cast<std::ptrdiff_t>(at)));
    EXPECT_EQ(some.finish, at == 12 ? Finish::max_tokens : Finish::cancelled);
    EXPECT_EQ(decoder.generate_ids(prompt, call).front().ids, expected.ids) << at;
  }
}

TEST(Decoder, KeysAndValuesAreNeverCopied) {
  const TinyLlama llama("inspect");
  const PlanInspection plan = llama.load().engine().inspection();
  int scatters = 0;
  for (const auto& program : plan.programs)
    for (const auto& step : program.steps) {
      EXPECT_NE(step.op, "Transpose") << step.name;
      scatters += step.op == "TensorScatter";
    }
  EXPECT_EQ(scatters, 8);   // two layers' keys and values, of a step and of a piece of a prompt
}

TEST(Decoder, AnInt8CacheIsReadWhereItLies) {
  const TinyLlama llama("int8");
  const Decoder decoder = llama.load(1, 512, "int8");
  int scatters = 0, attentions = 0, rounded = 0;
  for (const auto& program : decoder.engine().inspection().programs)
    for (const auto& step : program.steps) {
      scatters += step.op == "TensorScatter", attentions += step.op == "AttentionInt8Cache", rounded += step.op == "QuantizeRows";
      EXPECT_NE(step.op, "DequantizeLinear") << step.name;
      EXPECT_NE(step.op, "Slice") << step.name;
    }
  EXPECT_EQ(scatters, 16);  // keys, values and their scales
  EXPECT_EQ(attentions, 4);
  EXPECT_EQ(rounded, 8);
  EXPECT_EQ(decoder.info().cache_bytes, 2 * 2 * 24 * (4 + 4));
  EXPECT_EQ(llama.load().info().cache_bytes, 2 * 2 * 24 * 4 * 4);
}

TEST(Decoder, RefusesWhatIsNotThere) {
  TinyLlama llama("refused");
  const Decoder decoder = llama.load();
  DecoderSession session = decoder.start();
  expect_refused([&] { session.append(std::vector<Ids>{{12}}); }, ErrorKind::invalid_argument, "tokens 0 to 11");
  expect_refused([&] { session.append(std::vector<Ids>{Ids(25, 1)}); }, ErrorKind::invalid_argument, "max_length is 24");
  EXPECT_EQ(session.ids(0).size(), 0u);
  expect_refused([&] { decoder.start(2); }, ErrorKind::invalid_argument, "max_batch is 1");
  expect_refused([&] { decoder.generate(""); }, ErrorKind::invalid_argument, "has no tokens");
  for (const auto& [key, value, part] : std::vector<std::tuple<std::string, nlohmann::json, std::string>>{
           {"num_attention_heads", 3, "multiple"}, {"hidden_size", -1, "whole number"}, {"head_dim", 3, "even number"},
           {"num_hidden_layers", 70000, "65536"}, {"rope_theta", 0, "rope_theta"}, {"rms_norm_eps", "small", "a number"},
           {"vocab_size", 13, "embed_tokens"}, {"max_position_embeddings", 0, "whole number"}}) {
    nlohmann::json config = llama.config;
    config[key] = value;
    llama.write("config.json", config.dump());
    expect_refused([&] { llama.load().prepare(); }, ErrorKind::invalid_model, part);
  }
}

}  // namespace
}  // namespace tenfold::decoders
