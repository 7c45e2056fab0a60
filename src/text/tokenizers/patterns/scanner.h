// Patterns that match at every place, scanned by hand: what they share.
#pragma once

#include "text/tokenizers/patterns/pattern.h"
#include "text/tokenizers/unicode/general_category.h"

namespace tenfold::tokenizing {

// A text with the categories of its characters.
class Scan {
 public:
  explicit Scan(Word text) : text_(text), categories_(Categories::tables()) {}

  std::size_t size() const { return text_.size(); }
  char32_t operator[](std::size_t at) const { return at < text_.size() ? text_[at].c : 0; }
  bool is(std::size_t at, std::uint32_t categories) const { return at < text_.size() && (categories_.of(text_[at].c) & categories) != 0; }
  // Neither a letter nor a number nor white.
  bool is_other(std::size_t at) const { return at < text_.size() && (categories_.of(text_[at].c) & (kLetter | kNumber | kWhite)) == 0; }
  bool is_line_end(std::size_t at) const { return (*this)[at] == '\n' || (*this)[at] == '\r'; }
  std::size_t run(std::size_t at, std::uint32_t categories, std::size_t max = SIZE_MAX) const {
    const std::size_t end = max < text_.size() - at ? at + max : text_.size();
    while (at < end && is(at, categories)) ++at;
    return at;
  }
  std::size_t run_of_others(std::size_t at) const {
    while (is_other(at)) ++at;
    return at;
  }
  // Behind 's, 't, 're, 've, 'm, 'll or 'd; `at` itself: there is none.
  std::size_t contraction(std::size_t at, bool any_case) const;
  // Behind \s+(?!\S)|\s+: the last space is left to the word behind it. `at` must be white.
  std::size_t spaces(std::size_t at) const {
    const std::size_t end = run(at, kWhite);
    return end == size() || end == at + 1 ? end : end - 1;
  }
  // Behind \s*[\r\n]+; `at` itself: there is none.
  std::size_t lines(std::size_t at) const {
    std::size_t end = run(at, kWhite);
    while (end > at && !is_line_end(end - 1)) --end;
    return end;
  }

 private:
  Word text_;
  const Categories& categories_;
};

// One whose `next` gives where the match that begins at a place ends, which is behind that place.
template <class Next>
class Scanner : public Pattern {
 public:
  explicit Scanner(Next next) : next_(next) {}
  void find(Word text, std::vector<Match>& matches) const override {
    const Scan scan(text);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = next_(scan, at);
      matches.push_back({at, end, true});
      at = end;
    }
  }

 private:
  Next next_;
};

using NextMatch = std::size_t (*)(const Scan&, std::size_t);
std::size_t next_of_gpt2(const Scan& text, std::size_t at);
std::size_t next_of_cl100k(const Scan& text, std::size_t at);   // numbers of up to three digits
std::size_t next_of_qwen2(const Scan& text, std::size_t at);    // each digit alone
std::size_t next_of_o200k(const Scan& text, std::size_t at);

}  // namespace tenfold::tokenizing
