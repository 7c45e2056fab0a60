#include "text/encoders/text_reader.h"

#include <algorithm>
#include <exception>
#include <functional>

#include "tenfold/internal/interrupts.h"
#include "text/fail.h"
#include "text/threads.h"
#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::encoders {

namespace {

constexpr std::size_t kPart = 256;  // texts that a thread reads before it takes more

Tokenizer load(const std::string& folder, int max_tokens) {
  Tokenizer tokenizer = Tokenizer::load(folder);
  tokenizer.set_truncation(max_tokens);
  tokenizer.set_padding(Tokenizer::Padding::none);
  return tokenizer;
}

// Leaves the most tokens, the special ones at both ends among them: those at the text's beginning, or at its end.
void cut(Encoding& e, std::size_t max, bool keeps_end) {
  std::size_t first = 0, last = 0;
  while (last < max && e.special[e.size() - 1 - last]) ++last;
  while (first + last < max && e.special[first]) ++first;
  const auto from = e.ids.begin() + static_cast<std::ptrdiff_t>(keeps_end ? first : max - last);
  e.ids.erase(from, from + static_cast<std::ptrdiff_t>(e.size() - max));
}

void append(const Encoding& e, Tokens& tokens) {
  tokens.ids.insert(tokens.ids.end(), e.ids.begin(), e.ids.end());
  tokens.ends.push_back(tokens.ids.size());
}

std::string lower(std::string_view text) {
  tokenizing::Chars chars;
  tokenizing::decode_utf8(text, chars);
  tokenizing::lower_case(chars);
  return tokenizing::utf8(chars);
}

}  // namespace

TextReader::TextReader(const Folder& folder, int max_tokens, bool pairs, int threads, LogCallback log)
    : whole_(load(folder.transformer, 0)),
      max_tokens_(max_tokens),
      threads_(threads),
      lower_case_(folder.lower_case),
      keeps_end_(folder.keeps_end),
      log_(std::move(log)) {
  if (pairs && keeps_end_)
    tokenizing::fail(ErrorKind::unsupported, "'" + folder.transformer + "/tokenizer_config.json': truncation_side is left, which is " +
                                                 "supported for single texts and not for pairs");
  if (pairs) cut_.emplace(load(folder.transformer, max_tokens));
}

void TextReader::note_cut(std::size_t place, std::size_t length, Part& part) const {
  if (part.cut++ == 0) part.first_cut = place, part.length = length;
}

void TextReader::report_progress(const Part& part) const {
  if (part.cut == 0) return;
  truncated_ += static_cast<std::int64_t>(part.cut);
  if (log_ && !reported_.exchange(true))
    log_(Severity::warning, "text " + std::to_string(part.first_cut) + " has " + std::to_string(part.length) + " tokens and is cut to " +
                                std::to_string(max_tokens_) + "; further ones are counted and not logged");
}

// Several threads take parts in their order; `out` and what is told do not depend on how many there are.
void TextReader::read_parts(std::size_t texts, std::size_t bytes, Tokens& out,
                            const std::function<void(std::size_t text, Part& part)>& read) const {
  std::vector<Part> parts((texts + kPart - 1) / kPart);
  std::vector<std::exception_ptr> failures(parts.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const std::size_t threads = std::min(tokenizing::threads_for(bytes, threads_), std::max<std::size_t>(1, parts.size()));
  tokenizing::on_threads(threads, [&](std::size_t) {
    for (std::size_t at = next++; at < parts.size() && !failed; at = next++) try {
        for (std::size_t i = at * kPart; i < std::min(texts, (at + 1) * kPart) && !failed; ++i) {
          throw_if_cancelled();  // of the caller's thread; others see that it failed
          read(i, parts[at]);
        }
      } catch (...) {
        failures[at] = std::current_exception(), failed = true;
      }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  out.clear();
  for (const Part& part : parts) {
    const std::size_t before = out.ids.size();
    out.ids.insert(out.ids.end(), part.tokens.ids.begin(), part.tokens.ids.end());
    out.types.insert(out.types.end(), part.tokens.types.begin(), part.tokens.types.end());
    for (const std::size_t end : part.tokens.ends) out.ends.push_back(before + end);
    report_progress(part);
  }
}

void TextReader::fail(Error& error, const char* what, std::size_t text, const Failed& failed) {
  if (error.kind() == ErrorKind::cancelled || !failed) throw error.within(what + std::to_string(text));
  failed(text, error);
}

bool TextReader::truncate(Encoding& e, KeptTokens kept) const {
  const auto max = static_cast<std::size_t>(max_tokens_);
  if (e.size() <= max) return false;
  cut(e, max, kept == KeptTokens::by_folder ? keeps_end_ : kept == KeptTokens::last);
  return true;
}

TokenizedText TextReader::tokenize(std::string_view text, const std::string& prompt, KeptTokens kept) const {
  thread_local Encoding e;
  std::string changed;
  if (!prompt.empty()) (changed = prompt) += text, text = changed;
  if (lower_case_) text = changed = lower(text);
  whole_.encode_into(text, e);
  const std::size_t length = e.size();
  if (truncate(e, kept)) ++truncated_;
  return {e.ids, {}, length};
}

TokenizedText TextReader::tokenize_pair(std::string_view first, std::string_view second) const {
  std::string low, other_low;
  if (lower_case_) first = low = lower(first), second = other_low = lower(second);
  Encoding e = whole_.encode_pair(first, second);
  const std::size_t length = e.size();
  if (length > static_cast<std::size_t>(max_tokens_)) ++truncated_, e = cut_.value().encode_pair(first, second);
  return {std::move(e.ids), std::move(e.types), length};
}

void TextReader::read(std::span<const std::string_view> texts, std::size_t first, const std::string& prompt, Tokens& out,
                      const Failed& failed) const {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size() + prompt.size();
  read_parts(texts.size(), bytes, out, [&](std::size_t i, Part& part) {
    thread_local Encoding e;
    thread_local std::string changed;
    std::string_view text = texts[i];
    try {
      if (!prompt.empty()) (changed = prompt) += text, text = changed;
      if (lower_case_) text = changed = lower(text);
      whole_.encode_into(text, e);
      const std::size_t length = e.size();
      if (truncate(e, KeptTokens::by_folder)) note_cut(first + i, length, part);
      append(e, part.tokens);
    } catch (Error& error) {
      fail(error, "text ", first + i, failed);
      part.tokens.ends.push_back(part.tokens.ids.size());
    }
  });
}

void TextReader::read(std::span<const std::pair<std::string_view, std::string_view>> pairs, std::size_t first, Tokens& out,
                      const Failed& failed) const {
  std::size_t bytes = 0;
  for (const auto& [one, other] : pairs) bytes += one.size() + other.size();
  read_parts(pairs.size(), bytes, out, [&](std::size_t i, Part& part) {
    try {
      auto [one, other] = pairs[i];
      std::string low, other_low;
      if (lower_case_) one = low = lower(one), other = other_low = lower(other);
      Encoding e = whole_.encode_pair(one, other);
      if (e.size() > static_cast<std::size_t>(max_tokens_)) note_cut(first + i, e.size(), part), e = cut_.value().encode_pair(one, other);
      append(e, part.tokens);
      part.tokens.types.insert(part.tokens.types.end(), e.types.begin(), e.types.end());
    } catch (Error& error) {
      fail(error, "pair ", first + i, failed);
      part.tokens.ends.push_back(part.tokens.ids.size());
    }
  });
}

int TextReader::prompt_tokens(const std::string& prompt) const {
  const Encoding e = whole_.encode(prompt);
  std::size_t last = 0;
  while (last < e.size() && e.special[e.size() - 1 - last]) ++last;
  return static_cast<int>(e.size() - last);
}

}  // namespace tenfold::encoders
