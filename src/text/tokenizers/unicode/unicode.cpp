#include "text/tokenizers/unicode/unicode.h"

#include <map>
#include <utility>

#include "text/fail.h"
#include "text/tokenizers/unicode/data.h"

namespace tenfold::tokenizing {
namespace {

constexpr char32_t kScalars = 0x110000;

std::uint64_t key(char32_t first, char32_t second) { return static_cast<std::uint64_t>(first) << 32 | second; }

// Calls `use` with each entry of "length << 24 | scalar, parts".
template <class Use>
void each_entry(const char32_t* data, std::size_t size, Use&& use) {
  for (std::size_t i = 0; i < size; i += 1 + (data[i] >> 24)) use(data[i] & 0xffffff, data + i);
}

}  // namespace

const Unicode& Unicode::tables() {
  static const Unicode one;
  return one;
}

std::span<const char32_t> Unicode::parts(std::uint16_t at) const {
  if (at == 0) return {};
  const char32_t* entry = parts_.data() + 2 * std::size_t{at};
  return {entry + 1, entry[0]};
}

std::uint16_t Unicode::keep(const char32_t* entry) {
  const std::size_t at = parts_.size();
  if (at / 2 > UINT16_MAX) fail(ErrorKind::internal, "the tables of Unicode have outgrown their 16 bits");
  parts_.push_back(*entry >> 24);
  parts_.insert(parts_.end(), entry + 1, entry + 1 + (*entry >> 24));
  if (parts_.size() % 2) parts_.push_back(0);
  return static_cast<std::uint16_t>(at / 2);
}

char32_t Unicode::composed(char32_t first, char32_t second) const {
  const auto at = pairs_.find(key(first, second));
  return at == pairs_.end() ? 0 : at->second;
}

Unicode::Unicode() : parts_(2) {
  std::vector<Scalar> all(kScalars);
  const auto mark = [&](const char32_t* ranges, std::size_t size, Kind kind) {
    for (std::size_t i = 0; i < size; i += 2)
      for (char32_t c = ranges[i]; c <= ranges[i + 1]; ++c) all[c].kinds |= kind;
  };
  mark(data::control, data::control_size, kControl), mark(data::space, data::space_size, kSpace);
  mark(data::punctuation, data::punctuation_size, kPunctuation), mark(data::combining, data::combining_size, kCombining);
  mark(data::digit, data::digit_size, kDigit), mark(data::word, data::word_size, kWord);
  mark(data::mark, data::mark_size, kMark), mark(data::ideograph, data::ideograph_size, kIdeograph);
  for (std::size_t i = 0; i < data::classes_size; i += 3)
    for (char32_t c = data::classes[i]; c <= data::classes[i + 1]; ++c) all[c].combining = static_cast<std::uint8_t>(data::classes[i + 2]);
  each_entry(data::canonical, data::canonical_size, [&](char32_t c, const char32_t* entry) { all[c].canonical = keep(entry); });
  each_entry(data::compatible, data::compatible_size, [&](char32_t c, const char32_t* entry) { all[c].compatible = keep(entry); });
  each_entry(data::lower_case, data::lower_case_size, [&](char32_t c, const char32_t* entry) { all[c].lower = keep(entry); });
  for (std::size_t i = 0; i < data::pairs_size; i += 3) pairs_[key(data::pairs[i], data::pairs[i + 1])] = data::pairs[i + 2];

  // Most blocks are like others: nothing but ideographs, words, or what is not assigned.
  std::map<std::vector<std::uint64_t>, std::uint16_t> known;
  for (char32_t first = 0; first < kScalars; first += kBlock) {
    std::vector<std::uint64_t> block;
    for (char32_t c = first; c < first + kBlock; ++c) {
      const Scalar& s = all[c];
      block.push_back(std::uint64_t{s.kinds} << 56 | std::uint64_t{s.combining} << 48 | std::uint64_t{s.canonical} << 32 |
                      std::uint64_t{s.compatible} << 16 | s.lower);
    }
    const auto [at, is_new] = known.emplace(std::move(block), static_cast<std::uint16_t>(known.size()));
    if (is_new) scalars_.insert(scalars_.end(), all.begin() + first, all.begin() + first + kBlock);
    blocks_.push_back(at->second);
  }
}

}  // namespace tenfold::tokenizing
