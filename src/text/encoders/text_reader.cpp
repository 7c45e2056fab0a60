#include "text/encoders/text_reader.h"

#include "text/fail.h"
#include "text/normalize/normalizer.h"

namespace tenfold::encoders {

namespace {

Tokenizer load(const std::string& folder, int max_tokens) {
  Tokenizer tokenizer = Tokenizer::load(folder);
  tokenizer.set_truncation(max_tokens);
  tokenizer.set_padding(Tokenizer::Padding::none);
  return tokenizer;
}

// Leaves the most tokens, the special ones at both ends among them: those at the text's beginning, or at its end.
void cut(Encoding& e, std::size_t most, bool keeps_end) {
  std::size_t first = 0, last = 0;
  while (last < most && e.special[e.size() - 1 - last]) ++last;
  while (first + last < most && e.special[first]) ++first;
  const auto from = e.ids.begin() + static_cast<std::ptrdiff_t>(keeps_end ? first : most - last);
  e.ids.erase(from, from + static_cast<std::ptrdiff_t>(e.size() - most));
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

TextReader::TextReader(const Folder& folder, int max_tokens, bool pairs, LogCallback log)
    : whole_(load(folder.transformer, 0)),
      max_tokens_(max_tokens),
      lower_case_(folder.lower_case),
      keeps_end_(folder.keeps_end),
      log_(std::move(log)) {
  if (pairs && keeps_end_)
    tokenizing::fail(ErrorKind::unsupported, "'" + folder.transformer + "/tokenizer_config.json': truncation_side is left, which is " +
                                                 "supported for single texts and not for pairs");
  if (pairs) cut_.emplace(load(folder.transformer, max_tokens));
}

void TextReader::tell(std::size_t place, std::size_t length) const {
  ++truncated_;
  if (log_ && !told_.exchange(true))
    log_(Severity::warning, "text " + std::to_string(place) + " has " + std::to_string(length) + " tokens and is cut to " +
                                std::to_string(max_tokens_) + "; further ones are counted and not told");
}

void TextReader::read(std::span<const std::string_view> texts, std::size_t first, const std::string& prompt, Tokens& out) const {
  thread_local Encoding e;
  std::string changed;
  out.clear();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string_view text = texts[i];
    try {
      if (!prompt.empty()) (changed = prompt) += text, text = changed;
      if (lower_case_) text = changed = lower(text);
      whole_.encode_into(text, e);
    } catch (Error& error) {
      throw error.within("text " + std::to_string(first + i));
    }
    const std::size_t length = e.size(), most = static_cast<std::size_t>(max_tokens_);
    if (length > most) tell(first + i, length), cut(e, most, keeps_end_);
    append(e, out);
  }
}

void TextReader::read(std::span<const std::pair<std::string_view, std::string_view>> pairs, std::size_t first, Tokens& out) const {
  out.clear();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    try {
      auto [one, other] = pairs[i];
      std::string low, other_low;
      if (lower_case_) one = low = lower(one), other = other_low = lower(other);
      Encoding e = whole_.encode_pair(one, other);
      if (e.size() > static_cast<std::size_t>(max_tokens_)) tell(first + i, e.size()), e = cut_.value().encode_pair(one, other);
      append(e, out);
      out.types.insert(out.types.end(), e.types.begin(), e.types.end());
    } catch (Error& error) {
      throw error.within("pair " + std::to_string(first + i));
    }
  }
}

int TextReader::prompt_tokens(const std::string& prompt) const {
  const Encoding e = whole_.encode(prompt);
  std::size_t last = 0;
  while (last < e.size() && e.special[e.size() - 1 - last]) ++last;
  return static_cast<int>(e.size() - last);
}

}  // namespace tenfold::encoders
