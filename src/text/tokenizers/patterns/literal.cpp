#include <algorithm>

#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {
namespace {

class Literal : public Pattern {
 public:
  explicit Literal(const std::string& text) : text_(scalars(text)) {}

  void find(Word text, std::vector<Match>& matches) const override {
    const auto same = [](const Char& a, char32_t b) { return a.c == b; };
    std::size_t open = 0;
    if (text_.empty()) return find_nothing(text.size(), matches);
    for (;;) {
      const auto at = std::search(text.begin() + static_cast<std::ptrdiff_t>(open), text.end(), text_.begin(), text_.end(), same);
      const auto begin = static_cast<std::size_t>(at - text.begin());
      if (begin > open) matches.push_back({open, begin, false});
      if (begin == text.size()) return;
      open = begin + text_.size();
      matches.push_back({begin, open, true});
    }
  }

 private:
  // Nothing stands before each character and at the end.
  static void find_nothing(std::size_t size, std::vector<Match>& matches) {
    matches.push_back({0, 0, true});
    for (std::size_t i = 0; i < size; ++i) matches.push_back({i, i + 1, false}), matches.push_back({i + 1, i + 1, true});
  }
  std::u32string text_;
};

}  // namespace

std::unique_ptr<Pattern> make_literal(const std::string& text) { return std::make_unique<Literal>(text); }

}  // namespace tenfold::tokenizing
