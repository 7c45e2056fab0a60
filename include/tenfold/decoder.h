// Decoders: language models that continue a text token by token, from a folder as transformers saves it, or from an ONNX file with
// past_key_values as optimum and onnxruntime-genai write it.
//
//   tenfold::Decoder decoder = tenfold::Decoder::load("gpt2");
//   tenfold::Generated story = decoder.generate("Once upon a time", {.max_tokens = 50});
//
// Of a folder these are read: config.json, generation_config.json, the tokenizer, and weights from model.safetensors or its shards;
// beside an ONNX file also genai_config.json. Which models there are: docs/guides/decoders.md. Prompt and steps are two profiles of
// one engine. Keys and values of the tokens so far lie in a cache, which every step continues where it is. It is in the library
// tenfold-text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/chat.h"
#include "tenfold/export.h"
#include "tenfold/plan_cache.h"
#include "tenfold/run_options.h"
#include "tenfold/text.h"

namespace tenfold {

struct DecoderOptions {
  DecoderOptions() { build.optimization_level = 1; }
  BuildConfig build;         // device, precision, threads and so on; profiles are the decoder's own
  // The plan cache. Plans are found by the contents of the folder, the device and the options. Not set: none.
  std::optional<PlanCacheOptions> cache = PlanCacheOptions{};
  int max_length = 0;        // tokens of a sequence, prompt included; 0: as many as the model has places for, at most 4,096
  int max_batch = 1;         // sequences that are computed at once
  int prompt_chunk = 512;    // tokens of a prompt that one run computes; longer prompts take several runs
  // Speculative decoding by the text's own n-grams (prompt lookup): tokens that a step may guess and check ahead; 0: none. It has its
  // own profile. The text is the same; where it repeats itself, a step makes several tokens.
  int speculate = 0;
  // Linear layers' weights as the nearest of 16 or 256 steps, "int4" or "int8", whose size all inputs of an output share, or
  // groups of so many, a multiple of 16: "int4:g32"; or, on CPUs, as the nearest e2m1 (floats of 4 bits) in blocks of MXFP4 or NVFP4:
  // "mxfp4", "nvfp4". The product of the logits has int8 at least. Empty: as the folder has them.
  std::string weights;
  // Of the cache. "int8", on CPUs: a byte for each element of keys and values, and a scale for each head's row of a token. Empty: the 16
  // bits that attention computes with where the build permits some, else f32; of an ONNX file as the file has them.
  std::string kv_cache_dtype;
};

struct DecoderInfo {
  std::string architecture;                 // "gpt2", "llama"
  int layers = 0, vocabulary = 0;
  int max_length = 0;                       // tokens of a sequence
  int max_batch = 0;
  int speculate = 0;                        // tokens that a step may guess
  std::int64_t cache_bytes = 0;             // of the keys and values of one sequence at max_length
  std::vector<std::int32_t> end_tokens;     // which end a text
  std::string tokenizer_folder;             // where the tokenizer was read
  std::string weights;                      // of linear layers: "int4:g32", "gptq int4:g128"; empty: floats
  std::string kv_cache_dtype;               // of keys and values: "f32", "bf16", "f16", "int8"
};

// How the next token is chosen. In this order: the repetition penalty divides positive logits of tokens that the sequence
// has and multiplies negative ones; the temperature divides all; then stay the top_k largest, the fewest whose probabilities
// reach top_p together, and those of at least min_p times the largest. One of these is drawn.
struct Sampling {
  float temperature = 0;             // 0: always the largest logit (greedy)
  int top_k = 0;                     // 0: all
  float top_p = 1, min_p = 0;
  float repetition_penalty = 1;
  std::uint64_t seed = 0;            // equal seeds draw equal tokens; sequence i of a call draws by seed + i
};

struct GenerateCall {
  int max_tokens = 128;              // new ones, of each sequence
  Sampling sampling = {};
  std::vector<std::string> stop = {};   // texts that end a sequence, and are cut off
  int speculate = -1;                // tokens that a step may guess, at most DecoderOptions::speculate; -1: as many
  bool ignore_end = false;           // whether sequences go on behind tokens that end a text
  // Told each new token with the text that it completed, which is empty inside of a character or of what may become a stop
  // text; what was so held back at the end comes with the token -1. False ends that sequence.
  std::function<bool(std::size_t sequence, std::int32_t token, std::string_view text)> token = {};
  // May change the logits that the next token is chosen by; `ids` are prompt and tokens so far.
  std::function<void(std::size_t sequence, std::span<const std::int32_t> ids, std::span<float> logits)> logits = {};
  RunOptions run = {};               // its token and deadline stop the call between two tokens, or two steps of a run
};

// Why a sequence ended: max_tokens were made, a token that ends a text, a stop text, the callback said so, the cache was full
// (max_length), or the call was cancelled or its deadline passed.
enum class Finish : std::uint8_t { max_tokens, end_token, stop_text, callback, max_length, cancelled };
TENFOLD_API std::string_view name(Finish finish);

struct Generated {
  std::vector<std::int32_t> ids;     // new tokens, without one that ended the text
  std::string text;                  // these as text
  Finish finish = Finish::max_tokens;
  int prompt_tokens = 0;
  int reused_tokens = 0;             // of the prompt: those whose keys and values an earlier call had left
};

// What calls so far have cost, in seconds of the caller's clock; steps of a batch count once.
struct DecoderCounts {
  std::int64_t prompt_tokens = 0, new_tokens = 0, prompt_runs = 0, steps = 0;
  double prompt_s = 0, step_s = 0;
  std::int64_t guessed_tokens = 0, accepted_tokens = 0;   // of speculation: checked ahead, and right
};

// A batch of sequences with their keys and values. One thread uses it at a time. It keeps its decoder's engine alive.
class TENFOLD_API DecoderSession {
 public:
  DecoderSession(DecoderSession&&) noexcept;
  DecoderSession& operator=(DecoderSession&&) noexcept;
  ~DecoderSession();

  int size() const;                                          // sequences
  std::span<const std::int32_t> ids(int sequence) const;     // its tokens so far
  // Appends tokens to each sequence, none to those whose list is empty. Returns size() rows of logits, one for each token of
  // the vocabulary, behind each sequence's last token; rows of sequences that got none are zeros. They stay until the next
  // call. Throws invalid_argument (ids that the model does not have, more than max_length, another number of lists),
  // cancelled; the sequences are then as they were.
  std::span<const float> append(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& run = {});
  // The same, with logits behind each of these tokens: those of the first sequence, of the second, and so on. At most
  // DecoderOptions::speculate + 1 tokens of each sequence.
  std::span<const float> append_each(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& run = {});
  void truncate(int sequence, int length);                   // forgets the tokens from there on
  DecoderSession fork() const;                               // a copy, which goes its own way

  struct TENFOLD_NOT_EXPORTED Impl;
  explicit DecoderSession(std::unique_ptr<Impl> impl);       // by Decoder::start()

 private:
  std::unique_ptr<Impl> impl_;
};

// Thread safe. The engine is made, or taken from the cache, at the first call that needs it; load() makes none.
class TENFOLD_API Decoder {
 public:
  // Throws io, invalid_model (pieces of the folder are missing or disagree), unsupported (a kind of decoder that is not
  // there; the message says what to do), invalid_argument (options). `path`: a folder, or an .onnx file.
  static Decoder load(const std::string& path, DecoderOptions options = {});
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  const DecoderInfo& info() const;
  const Tokenizer& tokenizer() const;
  DecoderCounts counts() const;
  void prepare() const;              // makes the engine now
  const Engine& engine() const;      // the same, and returns it

  // Continues texts (UTF-8, special tokens are put in front as the tokenizer says) or tokens. Sequences are computed
  // max_batch at a time. Where an earlier call left a sequence that begins with the same tokens, these are not computed again.
  Generated generate(std::string_view prompt, const GenerateCall& call = {}) const;
  std::vector<Generated> generate(std::span<const std::string_view> prompts, const GenerateCall& call = {}) const;
  std::vector<Generated> generate_ids(std::span<const std::vector<std::int32_t>> prompts, const GenerateCall& call = {}) const;

  // A conversation as the text that the folder's chat template makes of it (tokenizer_config.json, chat_template.jinja), and the
  // model's next message. `messages` of JSON are a list of objects with "role", and what else the template reads. Throws
  // invalid_argument: there is no template, or it refuses the conversation; invalid_model: the template is wrong or does not end,
  // with its line; unsupported: it has statements or filters that are not there.
  std::string apply_chat_template(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;
  std::string apply_chat_template(std::string_view messages_json, const ChatOptions& options = {}) const;
  Generated chat(std::span<const ChatMessage> messages, const GenerateCall& call = {}, const ChatOptions& options = {}) const;
  bool has_chat_template() const;

  // Empty sequences, at most max_batch of them.
  DecoderSession start(int sequences = 1) const;

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  explicit Decoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
