// General categories of scalars, as patterns have them.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::tokenizing {

// In the order of tools/unicode_classes.py.
enum class Category : std::uint8_t {
  Lu, Ll, Lt, Lm, Lo, Mn, Mc, Me, Nd, Nl, No, Pc, Pd, Ps, Pe, Pi, Pf, Po, Sm, Sc, Sk, So, Zs, Zl, Zp, Cc, Cf, Co, Cn
};
constexpr int kCategories = 29;

constexpr std::uint32_t bit(Category category) { return std::uint32_t{1} << static_cast<int>(category); }
constexpr std::uint32_t kCased = bit(Category::Lu) | bit(Category::Ll) | bit(Category::Lt);
constexpr std::uint32_t kLetter = kCased | bit(Category::Lm) | bit(Category::Lo);
constexpr std::uint32_t kAnyMark = bit(Category::Mn) | bit(Category::Mc) | bit(Category::Me);
constexpr std::uint32_t kNumber = bit(Category::Nd) | bit(Category::Nl) | bit(Category::No);
constexpr std::uint32_t kWhite = std::uint32_t{1} << 31;   // White_Space, beside the category

class Categories {
 public:
  static const Categories& tables();   // made at the first call
  std::uint32_t of(char32_t c) const { return bits_[rows_[blocks_[c / kBlock] * kBlock + c % kBlock]]; }   // a category's bit, and kWhite

 private:
  static constexpr char32_t kScalars = 0x110000, kBlock = 256;
  Categories();
  std::vector<std::uint8_t> blocks_, rows_;   // most blocks are like others
  std::uint32_t bits_[2 * kCategories] = {};
};

}  // namespace tenfold::tokenizing
