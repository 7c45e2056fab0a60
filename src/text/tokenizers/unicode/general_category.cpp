#include "text/tokenizers/unicode/general_category.h"

#include <map>

#include "text/fail.h"
#include "text/tokenizers/unicode/data.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {

const Categories& Categories::tables() {
  static const Categories one;
  return one;
}

Categories::Categories() {
  for (int i = 0; i < kCategories; ++i) bits_[i] = std::uint32_t{1} << i, bits_[kCategories + i] = bits_[i] | kWhite;
  std::vector<std::uint8_t> all(kScalars);
  for (std::size_t i = 0; i < data::general_size; ++i) {
    const char32_t first = data::general[i] & 0xffffff;
    const char32_t behind = i + 1 < data::general_size ? data::general[i + 1] & 0xffffff : kScalars;
    std::fill(all.begin() + first, all.begin() + behind, static_cast<std::uint8_t>(data::general[i] >> 24));
  }
  for (std::size_t i = 0; i < data::space_size; i += 2)
    for (char32_t c = data::space[i]; c <= data::space[i + 1]; ++c) all[c] += kCategories;
  std::map<std::vector<std::uint8_t>, std::uint8_t> known;
  for (auto at = all.begin(); at != all.end(); at += kBlock) {
    const auto [block, is_new] = known.emplace(std::vector<std::uint8_t>(at, at + kBlock), static_cast<std::uint8_t>(known.size()));
    if (known.size() > UINT8_MAX) fail(ErrorKind::internal, "the table of categories has outgrown its 8 bits");
    if (is_new) rows_.insert(rows_.end(), at, at + kBlock);
    blocks_.push_back(block->second);
  }
}

}  // namespace tenfold::tokenizing
