// What the reference tokenizer knows of a scalar: kinds, normal forms, lower case.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tenfold::tokenizing {

enum Kind : std::uint8_t {
  kControl = 1,       // which BERT's normalizer drops
  kSpace = 2,         // White_Space
  kPunctuation = 4,
  kDigit = 8,         // any number
  kWord = 16,         // \w
  kMark = 32,         // marks that take no space (Mn)
  kCombining = 64,    // all marks (M)
  kIdeograph = 128,   // which BERT's normalizer puts spaces around
};

class Unicode {
 public:
  static const Unicode& tables();   // made at the first call

  bool is(char32_t c, int kinds) const { return (of(c).kinds & kinds) != 0; }
  int combining_class(char32_t c) const { return of(c).combining; }
  // Full decompositions; empty: the scalar itself. Hangul's syllables are not among them.
  std::span<const char32_t> canonical(char32_t c) const { return parts(of(c).canonical); }
  std::span<const char32_t> compatible(char32_t c) const { return parts(of(c).compatible); }   // only where it is not the canonical one
  std::span<const char32_t> lower(char32_t c) const { return parts(of(c).lower); }
  char32_t composed(char32_t first, char32_t second) const;   // 0: they do not compose

 private:
  struct Scalar {
    std::uint8_t kinds = 0, combining = 0;
    std::uint16_t canonical = 0, compatible = 0, lower = 0;   // where in parts_ by twos; 0: none
    bool operator==(const Scalar&) const = default;
  };
  static constexpr int kBlock = 64;

  Unicode();
  const Scalar& of(char32_t c) const { return scalars_[blocks_[c / kBlock] * kBlock + c % kBlock]; }
  std::span<const char32_t> parts(std::uint16_t at) const;
  std::uint16_t keep(const char32_t* entry);

  std::vector<std::uint16_t> blocks_;
  std::vector<Scalar> scalars_;
  std::vector<char32_t> parts_;   // length, scalars; each begins at an even place
  std::unordered_map<std::uint64_t, char32_t> pairs_;
};

}  // namespace tenfold::tokenizing
