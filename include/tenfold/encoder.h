// Encoders: from text to vectors or scores, from a folder as sentence-transformers or transformers saves it.
//
//   tenfold::Encoder encoder = tenfold::Encoder::load("all-MiniLM-L6-v2");
//   std::vector<float> vectors = encoder.encode(texts);       // texts.size() rows of encoder.info().width
//
// Of the folder these are read: config.json, modules.json with the folders that it names (pooling, dense layers,
// normalisation), sentence_bert_config.json, config_sentence_transformers.json, the tokenizer, and weights from
// model.safetensors, from its shards, or from an ONNX file beside them. What kinds of encoders there are: docs/embeddings.md.
//
// Texts of equal length are computed together, so nothing is padded, and a vector does not depend on the texts beside
// it. It is in the library tenfold-text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/engine.h"
#include "tenfold/export.h"
#include "tenfold/network.h"
#include "tenfold/plan_cache.h"
#include "tenfold/text.h"

namespace tenfold {

constexpr int kAllDimensions = -1;

struct EncoderOptions {
  EncoderOptions() { build.optimization_level = 1; }
  BuildConfig build;             // device, precision, threads and so on; profiles are the encoder's own
  // Where plans are kept. They are found by the bytes of the folder, the device and the options. Nothing: nowhere.
  std::optional<PlanCacheOptions> cache = PlanCacheOptions{};
  int max_tokens = 0;            // of a text, special ones included; 0: what the folder says
  int dimensions = 0;            // only the first so many of a vector; 0: what the folder says; kAllDimensions: all
  bool normalize = false;        // vectors get length 1, behind all else; one of zeros stays
  std::int64_t batch_tokens = 0; // at most so many are computed at once; 0: 2048 on a CPU, 16384 on a GPU
  // Makes the engine of encode() in place of a build and of `cache`: from the network ("ids", i32[texts, tokens], gives
  // "out"), `build` with the encoder's profiles, and the key by which a cache finds the plan. Called once, in the call
  // that needs the engine first. The engine has the network's inputs and outputs and covers the profiles. What it throws
  // comes through. Null: the library's own way, which prompts that pooling leaves out, vectors of tokens and scores have
  // anyway.
  std::function<Engine(Network network, const BuildConfig& config, const std::string& key)> make_engine;
};

// What becomes of the outputs of a classification head.
enum class ScoreFunction : std::uint8_t { by_folder, none, sigmoid, softmax };

struct EncoderInfo {
  std::string architecture;                    // "bert", or "onnx"
  int width = 0;                               // of a vector
  int token_width = 0;                         // of a token's vector
  int max_tokens = 0;
  int labels = 0;                              // of the classification head; 0: there is none
  std::vector<std::string> label_names;
  std::map<std::string, std::string> prompts;  // by name
  std::string default_prompt;                  // a name among them; empty: none
  std::string similarity;                      // cosine, dot, euclidean, manhattan
  bool lower_case = false;                     // texts are put in lower case before the tokenizer sees them
  int truncate_dim = 0;                        // how many dimensions the folder wants; 0: it does not say
  int padding_id = 0;                          // of config.json, for those who pad ids themselves
};

// What the calls so far have seen.
struct EncoderCounts { std::int64_t texts = 0, tokens = 0, truncated = 0, runs = 0; };

struct EncodeCall {
  std::string prompt;                          // put in front of each text
  // Told after each batch; if it returns false, the call throws Error(cancelled).
  std::function<bool(std::size_t done, std::size_t total)> progress;
};

// The vectors of one text's tokens: `size` rows of EncoderInfo::token_width.
struct TokenVectors { std::int64_t size = 0; std::vector<float> values; };

// Thread safe. Engines are made, or taken from the cache, at the first call that needs them; load() makes none.
class TENFOLD_API Encoder {
 public:
  // Throws io, invalid_model (pieces of the folder are missing or disagree), unsupported (a kind of encoder or layer
  // that is not there; the message says what to do).
  static Encoder load(const std::string& folder, EncoderOptions options = {});
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  const EncoderInfo& info() const;
  const Tokenizer& tokenizer() const;
  EncoderCounts counts() const;

  // Texts are UTF-8; the order is kept. A text longer than max_tokens is truncated; the log tells of the first.
  std::vector<float> encode(std::span<const std::string_view> texts, const EncodeCall& call = {}) const;
  // The same into the caller's memory, texts.size() rows of info().width.
  void encode_into(std::span<const std::string_view> texts, std::span<float> out, const EncodeCall& call = {}) const;
  std::vector<TokenVectors> encode_tokens(std::span<const std::string_view> texts, const EncodeCall& call = {}) const;
  // The ids that the model is given for a text: behind the prompt, with special tokens, truncated (and counted so).
  std::vector<std::int32_t> token_ids(std::string_view text, const std::string& prompt = {}) const;
  // By the classification head: a row of info().labels for each pair.
  std::vector<float> score(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                           ScoreFunction function = ScoreFunction::by_folder, const EncodeCall& call = {}) const;
  // Makes the engine that encode() needs, or score() where the folder has a head.
  void prepare() const;

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  explicit Encoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
