// Encoders: from text to vectors or scores, from a folder as sentence-transformers or transformers saves it.
//
//   tenfold::Encoder encoder = tenfold::Encoder::load("all-MiniLM-L6-v2");
//   std::vector<float> vectors = encoder.encode(texts);       // texts.size() rows of encoder.info().width
//
// Of the folder these are read: config.json, modules.json with the folders that it names (pooling, dense layers,
// normalization), sentence_bert_config.json, config_sentence_transformers.json, the tokenizer, and weights from
// model.safetensors, from its shards, or from an ONNX file beside them. What kinds of encoders there are: docs/guides/embeddings.md.
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
#include "tenfold/device_strategy.h"
#include "tenfold/engine.h"
#include "tenfold/export.h"
#include "tenfold/network.h"
#include "tenfold/plan_cache.h"
#include "tenfold/run_options.h"
#include "tenfold/text.h"

namespace tenfold {

constexpr int kAllDimensions = -1;

// The precision of GEMMs.
//   by_build   what fields of BuildConfig permit (fp16, bf16, auto_precision, calibration, budget); fp32 if they permit
//              nothing
//   fp32       as in torch: GPUs do not use tf32. CPUs may use fixed-point weights of 16 bits or more,
//              if BuildConfig::tf32 permits it. Scaled to length 1, the vectors of a text alone and in any batch differ by at
//              most 1e-5 in each element
//   tf32       the same, but GPUs may round operands of GEMMs to tf32 (10 bits of mantissa)
//   fp16, bf16 that type; if the machine lacks it, the next wider one, and the log says so
//   int8       with ranges from EncoderOptions::calibration_texts. Then the vectors of every other one of these texts
//              are compared with fp32's. If their mean cosine is below EncoderOptions::min_cosine, the next wider type
//              that is faster on the device is used, and the log says so. Heads are never int8.
//   automatic  the fastest type of the device (BuildConfig::auto_precision); int8 only with calibration_texts
enum class EncoderPrecision : std::uint8_t { by_build, fp32, tf32, fp16, bf16, int8, automatic };
// By the names fp32, tf32, fp16, bf16, int8 and auto. Throws invalid_argument, which lists them, for any other.
TENFOLD_API EncoderPrecision parse_encoder_precision(std::string_view name);

// Ten texts of different kinds and lengths, for those who have none of their own to calibrate or measure with.
TENFOLD_API std::span<const std::string_view> example_texts();

struct EncoderOptions {
  EncoderOptions() { build.optimization_level = 1; }
  BuildConfig build;             // device, precision, threads and so on; profiles are the encoder's own
  // Whether a run packs texts of several lengths without padding, if the model supports it (BERT's family with mean or cls
  // pooling, and its heads). Not set: on GPUs, where a run for each length would take longer.
  std::optional<bool> packed;
  // The plan cache. Plans are found by the contents of the folder, the device and the options. Not set: none.
  std::optional<PlanCacheOptions> cache = PlanCacheOptions{};
  int max_tokens = 0;            // of a text, special ones included; 0: as the folder says
  int dimensions = 0;            // the first elements of a vector to keep; 0: as the folder says; kAllDimensions: all
  bool normalize = false;        // vectors get length 1, as the last step; a zero vector stays
  // At most so many are computed at once; 0: 2048 on a CPU, 16384 on a GPU. A device without the memory for them goes on
  // with half as many, and the log says so.
  std::int64_t batch_tokens = 0;
  // Makes the engine of encode() in place of a build and of `cache`: from the network ("ids", i32[texts, tokens], gives
  // "out"), `build` with the encoder's profiles, and the key by which a cache finds the plan. Called once for each device, in
  // the call that needs its engine first. The engine has the network's inputs and outputs and covers the profiles. What it throws
  // comes through. Null: the library's own way, which prompts that pooling leaves out, vectors of tokens and scores have
  // anyway.
  std::function<Engine(Network network, const BuildConfig& config, const std::string& key)> make_engine;
  // Devices that compute side by side, in place of build.device; empty: that one alone. A device is
  //   cpu       all processors, or an equal share of them where it is named more than once
  //   cpu:0-3   these processors, to which its threads keep; "+" adds a range: cpu:0-3+8-11
  //   cuda:0    a GPU; named twice, it has two engines' worth of runs at once
  std::vector<std::string> devices;
  DeviceStrategy strategy = DeviceStrategy::automatic;
  EncoderPrecision precision = EncoderPrecision::by_build;
  // Texts like those to come, for int8: up to 200 are used. Without any, int8 takes example_texts(), and the log warns
  // of it.
  std::vector<std::string> calibration_texts;
  double min_cosine = 0.99;  // of int8's vectors to those of fp32; above 0, at most 1
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
  // Whether the folder says that vectors were trained to be cut (is_matryoshka, matryoshka_dimensions, truncate_dim), and to which widths;
  // an empty list: to any.
  bool matryoshka = false;
  std::vector<int> matryoshka_dimensions;
  int vocabulary = 0;                          // ids are below it
  ScoreFunction score_function = ScoreFunction::none;   // of the folder's head: what by_folder stands for; that itself: another one
};

// What the calls so far have seen.
struct EncoderCounts { std::int64_t texts = 0, tokens = 0, truncated = 0, runs = 0; };

// What one device has done so far. `busy_s` are seconds, of all its threads together. `lost`: why it gets no more work;
// empty: it works. Where every device fails, a call throws, and the next call tries all of them again.
struct DeviceWork {
  std::string device;
  std::int64_t texts = 0, tokens = 0, runs = 0;
  double busy_s = 0;
  std::string lost;
  std::string precision;  // the narrowest type of its newest engine: fp32, fp16, bf16, int8; empty: it has none yet
  // The mean cosine that int8 was judged by. -1: it was not tried, or its plan was taken from the cache.
  double int8_cosine = -1;
};

struct EncodeCall {
  std::string prompt;                          // put in front of each text
  // Told in the caller's thread as texts are done; if it returns false, the call throws Error(cancelled).
  std::function<bool(std::size_t done, std::size_t total)> progress;
  // Stops the call between two steps of a run: it throws Error(cancelled).
  RunOptions run = {};
  // Takes the error of one text (it is no UTF-8, an id is none, its vector is not finite), whose rows are then zeros; the others go on. It
  // is called by several threads at once, for different texts. Null: such an error ends the call.
  std::function<void(std::size_t text, const Error& error)> failed = {};
};

// A text, or a pair of texts, as ids that the model is given: with special tokens, of Encoder::tokenize() or the caller's own.
struct TokenIds {
  std::span<const std::int32_t> ids;
  std::span<const std::int32_t> types = {};    // by id: 1 in the second text of a pair; empty: 0
};
struct TokenizedText {
  std::vector<std::int32_t> ids, types;        // types: of pairs
  std::size_t length = 0;                      // before it was truncated to ids.size()
  operator TokenIds() const { return {ids, types}; }
};
// Which tokens of a text that has too many stay. by_folder: as tokenizer_config.json says.
enum class KeptTokens : std::uint8_t { by_folder, first, last };

// The vectors of one text's tokens: `size` rows of EncoderInfo::token_width.
struct TokenVectors { std::int64_t size = 0; std::vector<float> values; };

// Thread safe. Engines are made, or taken from the cache, at the first call that needs them; load() makes none.
class TENFOLD_API Encoder {
 public:
  // Throws io, invalid_model (pieces of the folder are missing or disagree), unsupported (a kind of encoder or layer
  // that is not there; the message says what to do), invalid_argument (options, names of devices).
  static Encoder load(const std::string& folder, EncoderOptions options = {});
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  const EncoderInfo& info() const;
  const Tokenizer& tokenizer() const;
  EncoderCounts counts() const;
  std::vector<DeviceWork> devices() const;  // in the order of EncoderOptions::devices
  // A text that is equal only for encoders whose vectors are made alike: by the bytes of the folder, the options, the
  // kinds of devices and the library's version. Reads the folder's weights once.
  std::string fingerprint() const;

  // Texts are UTF-8; the order is kept. A text longer than max_tokens is truncated; the log tells of the first.
  std::vector<float> encode(std::span<const std::string_view> texts, const EncodeCall& call = {}) const;
  // The same into the caller's memory, texts.size() rows of info().width.
  void encode_into(std::span<const std::string_view> texts, std::span<float> out, const EncodeCall& call = {}) const;
  std::vector<TokenVectors> encode_tokens(std::span<const std::string_view> texts, const EncodeCall& call = {}) const;
  // The ids that the model is given for a text: after the prompt, with special tokens, truncated (and counted so).
  std::vector<std::int32_t> token_ids(std::string_view text, const std::string& prompt = {}) const;
  // By the classification head: a row of info().labels for each text, or for each pair.
  std::vector<float> score(std::span<const std::string_view> texts, ScoreFunction function = ScoreFunction::by_folder,
                           const EncodeCall& call = {}) const;
  std::vector<float> score(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                           ScoreFunction function = ScoreFunction::by_folder, const EncodeCall& call = {}) const;
  // Once a text is tokenized, servers know what it costs, and need not do it again. It may be done in any thread. Throws
  // invalid_argument for what is no UTF-8; of a pair, the longer text is truncated first.
  TokenizedText tokenize(std::string_view text, const std::string& prompt = {}, KeptTokens kept = KeptTokens::by_folder) const;
  TokenizedText tokenize_pair(std::string_view first, std::string_view second) const;
  // The same as for texts. `call.prompt` is the one that tokenize() put in front. Ids that the model does not have, more than
  // info().max_tokens of them, or none: invalid_argument.
  std::vector<float> encode(std::span<const TokenIds> texts, const EncodeCall& call = {}) const;
  std::vector<TokenVectors> encode_tokens(std::span<const TokenIds> texts, const EncodeCall& call = {}) const;
  std::vector<float> score(std::span<const TokenIds> texts, ScoreFunction function = ScoreFunction::by_folder,
                           const EncodeCall& call = {}) const;
  // Makes the engines that encode() needs on all devices, or score() by the function where the folder has a head.
  void prepare(ScoreFunction function = ScoreFunction::by_folder) const;

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  explicit Encoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
