// Texts as ids: prompt, lower case, tokenizer, and what is cut off and counted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tenfold/encoder.h"
#include "tenfold/log.h"
#include "tenfold/text.h"
#include "text/encoders/batches.h"
#include "text/encoders/folder.h"

namespace tenfold::encoders {

class TextReader {
 public:
  // `pairs`: whether read() of them will be called. Throws as Tokenizer::load does; unsupported: pairs that keep their end.
  // `threads`: that read many texts, at most; 0: as many as there are processors.
  TextReader(const Folder& folder, int max_tokens, bool pairs, int threads, LogCallback log);
  const Tokenizer& tokenizer() const { return whole_; }
  // The ids of texts behind a prompt, in place of what `out` has. `first` is the number of the first text, for messages. `failed`: as
  // EncodeCall::failed; such a text gets no ids.
  using Failed = std::function<void(std::size_t text, const Error& error)>;
  void read(std::span<const std::string_view> texts, std::size_t first, const std::string& prompt, Tokens& out,
            const Failed& failed = {}) const;
  void read(std::span<const std::pair<std::string_view, std::string_view>> pairs, std::size_t first, Tokens& out,
            const Failed& failed = {}) const;
  // One text, or a pair.
  TokenizedText tokenize(std::string_view text, const std::string& prompt, KeptTokens kept) const;
  TokenizedText tokenize_pair(std::string_view first, std::string_view second) const;
  // How many tokens a prompt has in front of a text.
  int prompt_tokens(const std::string& prompt) const;
  std::int64_t truncated() const { return truncated_; }
  void forget_truncated() const { truncated_ = 0, reported_ = false; }  // of texts that are nobody's call

 private:
  // Texts that one thread reads, and what of them was cut off.
  struct Part {
    Tokens tokens;
    std::size_t cut = 0, first_cut = 0, length = 0;  // how many texts; which one was the first, and its tokens
  };
  void read_parts(std::size_t texts, std::size_t bytes, Tokens& out, const std::function<void(std::size_t text, Part& part)>& read) const;
  void note_cut(std::size_t place, std::size_t length, Part& part) const;
  void report_progress(const Part& part) const;
  // What is wrong with text `i` of a call goes to `failed`, or up.
  static void fail(Error& error, const char* what, std::size_t text, const Failed& failed);
  bool truncate(Encoding& e, KeptTokens kept) const;   // whether it had too many tokens
  Tokenizer whole_;
  std::optional<Tokenizer> cut_;   // of one that reads pairs: truncates them, the longer text first
  int max_tokens_, threads_;
  bool lower_case_, keeps_end_;
  LogCallback log_;
  mutable std::atomic<std::int64_t> truncated_{0};
  mutable std::atomic<bool> reported_{false};
};

}  // namespace tenfold::encoders
