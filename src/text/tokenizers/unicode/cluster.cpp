#include "text/tokenizers/unicode/cluster.h"

#include <algorithm>

#include "text/char_table.h"
#include "text/tokenizers/unicode/data.h"

namespace tenfold::tokenizing {
namespace {

enum Kind : std::int32_t {
  kSeparate = 1, kExtends = 2, kConsonant = 4, kLinker = 8, kPrepends = 16, kPictograph = 32,
  kLead = 64, kVowel = 128, kTail = 256, kLeadVowel = 512, kSyllable = 1024   // Hangul; the last one has a tail
};
constexpr char32_t kJoiner = 0x200d, kFirstSyllable = 0xac00, kLastSyllable = 0xd7a3, kTails = 28;
constexpr char32_t kFirstOfMany = 0x300;   // below it only line ends go together

class Kinds {
 public:
  static const Kinds& tables() {
    static const Kinds one;
    return one;
  }
  std::int32_t of(char32_t c) const { return std::max(kinds_.of(c), 0); }

 private:
  void mark(const char32_t* ranges, std::size_t size, Kind kind) {
    for (std::size_t i = 0; i < size; i += 2)
      for (char32_t c = ranges[i]; c <= ranges[i + 1]; ++c) kinds_.set(c, of(c) | kind);
  }
  template <std::size_t N>
  void mark(const char32_t (&ranges)[N], Kind kind) { mark(ranges, N, kind); }
  Kinds() {
    mark(data::separate, data::separate_size, kSeparate), mark(data::extends, data::extends_size, kExtends);
    mark(data::consonants, data::consonants_size, kConsonant), mark(data::linkers, data::linkers_size, kLinker);
    mark(data::prepends, data::prepends_size, kPrepends), mark(data::pictographs, data::pictographs_size, kPictograph);
    mark({0x1100, 0x115f, 0xa960, 0xa97c}, kLead), mark({0x1160, 0x11a7, 0xd7b0, 0xd7c6}, kVowel);
    mark({0x11a8, 0x11ff, 0xd7cb, 0xd7fb}, kTail);
    for (char32_t c = kFirstSyllable; c <= kLastSyllable; ++c) kinds_.set(c, (c - kFirstSyllable) % kTails == 0 ? kLeadVowel : kSyllable);
  }
  CharTable kinds_;
};

bool is_hangul_together(std::int32_t a, std::int32_t b) {
  if (a & kLead) return (b & (kLead | kVowel | kLeadVowel | kSyllable)) != 0;
  if (a & (kVowel | kLeadVowel)) return (b & (kVowel | kTail)) != 0;
  return (a & (kTail | kSyllable)) && (b & kTail);
}

}  // namespace

std::size_t cluster_end(std::span<const Char> text, std::size_t at) {
  if (at + 1 == text.size()) return text.size();
  if (text[at].c < kFirstOfMany && text[at + 1].c < kFirstOfMany) return at + (text[at].c == '\r' && text[at + 1].c == '\n' ? 2 : 1);
  const Kinds& kinds = Kinds::tables();
  std::int32_t last = kinds.of(text[at].c);
  if (last & kSeparate) return at + 1;
  bool is_picture = false, has_consonant = false, has_linker = false;   // before this place, with nothing but what extends them between
  std::size_t i = at + 1;
  for (;; ++i) {
    if (last & kPictograph) is_picture = true;
    else if (!(last & kExtends)) is_picture = false;
    if (last & kConsonant) has_consonant = true, has_linker = false;
    else if (!(last & kExtends)) has_consonant = false;
    if (last & kLinker) has_linker = true;
    if (i == text.size()) break;
    const std::int32_t next = kinds.of(text[i].c);
    const bool joins = !(next & kSeparate) &&
                       ((next & kExtends) || (last & kPrepends) || is_hangul_together(last, next) ||
                        (has_consonant && has_linker && (next & kConsonant)) ||
                        (is_picture && text[i - 1].c == kJoiner && (next & kPictograph)));
    if (!joins) break;
    last = next;
  }
  return i;
}

}  // namespace tenfold::tokenizing
