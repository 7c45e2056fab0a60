// Tokenizers: from text to the ids that a language model takes, equal to those of Hugging Face's `tokenizers`.
//
// A tokenizer is read from `tokenizer.json`, with all components that those have, or made of other files: docs/guides/text.md.
// Positions are in characters (Unicode scalars) of the text, which is UTF-8.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/error.h"
#include "tenfold/export.h"

namespace tenfold {

// The tokens of a text, or of a pair of texts. All vectors have one length.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;       // 0 in the first text, 1 in the second, or what the post-processor says
  std::vector<std::int32_t> mask;        // 1; 0 where it was padded
  std::vector<std::int32_t> special;     // 1 for tokens that no text has: [CLS], [SEP], padding
  std::vector<std::int32_t> begins, ends;   // where the token stands in its text; 0, 0 for special ones
  std::size_t size() const { return ids.size(); }
};

// Immutable once it is loaded; all threads may use one at once.
class TENFOLD_API Tokenizer {
 public:
  // A file tokenizer.json, or a folder that holds one, or else vocab.txt, vocab.json and merges.txt, or a model of
  // SentencePiece (tokenizer.model, sentencepiece.bpe.model, spiece.model), with what tokenizer_config.json says. Throws
  // io (it cannot be read), invalid_model (what is wrong, and where), unsupported (the component that is missing).
  static Tokenizer load(const std::string& path);
  static Tokenizer parse(std::string_view json, const std::string& what = "tokenizer.json");
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // `special_tokens`: those of the post-processor are put in. Truncation and padding are those that the file has, unless
  // set_truncation() or set_padding() changed them. Throws invalid_argument: text that is no UTF-8 (with the byte's
  // position), or a pair that cannot be truncated as asked.
  Encoding encode(std::string_view text, bool special_tokens = true) const;
  Encoding encode_pair(std::string_view first, std::string_view second, bool special_tokens = true) const;
  // All padded to one length where the file pads to the longest. `threads`: at most so many, fewer for little text; 0: as
  // many as there are processors. The result does not depend on it.
  std::vector<Encoding> encode_batch(std::span<const std::string_view> texts, bool special_tokens = true, int threads = 0) const;
  // Into `encoding`, whose memory is used again; nothing is padded. For loops over many texts.
  void encode_into(std::string_view text, Encoding& encoding, bool special_tokens = true) const;

  // At most so many tokens, special ones included; 0: as many as there are.
  void set_truncation(int max_length);
  enum class Padding : std::uint8_t { none, longest, fixed };
  void set_padding(Padding padding, int length = 0);   // `length` counts where it is fixed

  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = true) const;
  int vocabulary_size() const;                             // with the tokens that were added
  std::int32_t id(std::string_view token) const;           // -1: there is none
  std::string token(std::int32_t id) const;                // empty: there is none

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
