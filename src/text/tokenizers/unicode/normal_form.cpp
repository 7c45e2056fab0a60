#include "text/tokenizers/unicode/normal_form.h"

#include <algorithm>

#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

// Hangul's syllables are numbered by their letters (Unicode Standard, section 3.12).
constexpr char32_t kSyllable = 0xac00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11a7;
constexpr char32_t kLeads = 19, kVowels = 21, kTails = 28, kSyllables = kLeads * kVowels * kTails;

bool is_ascii(const Chars& chars) {
  return std::all_of(chars.begin(), chars.end(), [](const Char& one) { return one.c < 0x80; });
}

class Decomposer {
 public:
  Decomposer(const Unicode& unicode, std::vector<Step>& steps) : unicode_(unicode), steps_(steps) {}

  void take(char32_t c, bool compatible) {
    if (const char32_t i = c - kSyllable; c >= kSyllable && i < kSyllables) {
      put(kLead + i / (kVowels * kTails), 0), put(kVowel + i % (kVowels * kTails) / kTails, 1);
      if (i % kTails) put(kTail + i % kTails, 1);
      return;
    }
    std::span<const char32_t> parts = compatible ? unicode_.compatible(c) : std::span<const char32_t>();
    if (parts.empty()) parts = unicode_.canonical(c);
    if (parts.empty()) return put(c, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) put(parts[i], i > 0);
  }
  void order_marks() {
    const auto by_class = [&](const Step& a, const Step& b) { return unicode_.combining_class(a.c) < unicode_.combining_class(b.c); };
    if (steps_.size() - marks_ > 1) std::stable_sort(steps_.begin() + static_cast<std::ptrdiff_t>(marks_), steps_.end(), by_class);
    marks_ = steps_.size();
  }

 private:
  void put(char32_t c, int change) {
    if (unicode_.combining_class(c) == 0) order_marks(), ++marks_;
    steps_.push_back({c, change});
  }

  const Unicode& unicode_;
  std::vector<Step>& steps_;
  std::size_t marks_ = 0;   // from here on there are only marks, whose order is open
};

std::vector<Step> decomposed(const Chars& chars, bool compatible) {
  std::vector<Step> steps;
  steps.reserve(chars.size() + chars.size() / 4);
  Decomposer all(Unicode::tables(), steps);
  for (const Char& one : chars) all.take(one.c, compatible);
  all.order_marks();
  return steps;
}

char32_t composed(const Unicode& unicode, char32_t a, char32_t b) {
  if (a - kLead < kLeads && b - kVowel < kVowels) return kSyllable + ((a - kLead) * kVowels + (b - kVowel)) * kTails;
  if (a - kSyllable < kSyllables && (a - kSyllable) % kTails == 0 && b > kTail && b - kTail < kTails) return a + (b - kTail);
  return unicode.composed(a, b);
}

}  // namespace

void replace(Chars& chars, std::span<const Step> steps) {
  Chars result;
  result.reserve(steps.size());
  std::size_t at = 0;
  for (const Step& step : steps) {
    Char one{step.c, 0, 0};
    if (step.change > 0) {
      if (at > 0) one.begin = chars[at - 1].begin, one.end = chars[at - 1].end;
    } else {
      one.begin = chars[at].begin, one.end = chars[at].end;
      at += 1 + static_cast<std::size_t>(-step.change);
    }
    result.push_back(one);
  }
  chars = std::move(result);
}

void decompose(Chars& chars, bool compatible) {
  if (!is_ascii(chars)) replace(chars, decomposed(chars, compatible));
}

void compose(Chars& chars, bool compatible) {
  if (is_ascii(chars)) return;
  const Unicode& unicode = Unicode::tables();
  std::vector<Step> result;
  std::size_t starter = SIZE_MAX;   // the last scalar of class 0 that marks may join
  int last = -1;                    // the class of what stands between it and the next; -1: nothing does
  for (const Step& step : decomposed(chars, compatible)) {
    const int own = unicode.combining_class(step.c);
    const bool reaches = starter != SIZE_MAX && last < own;   // nothing of its class or above stands between
    if (const char32_t one = reaches ? composed(unicode, result[starter].c, step.c) : 0) {
      result[starter] = {one, result[starter].change + step.change - 1};
      continue;
    }
    if (own == 0) starter = result.size(), last = -1;
    else last = own;
    result.push_back(step);
  }
  replace(chars, result);
}

}  // namespace tenfold::tokenizing
