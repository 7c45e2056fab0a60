// The arrays that tools/write_unicode_tables.py writes. unicode.cpp makes tables for look-up of them.
#pragma once

#include <cstddef>

namespace tenfold::tokenizing::data {

// First and last of each range.
extern const char32_t control[], space[], punctuation[], digit[], word[], mark[], combining[], ideograph[];
extern const std::size_t control_size, space_size, punctuation_size, digit_size, word_size, mark_size, combining_size, ideograph_size;
// length << 24 | scalar, then so many scalars.
extern const char32_t canonical[], compatible[], lower_case[];
extern const std::size_t canonical_size, compatible_size, lower_case_size;
extern const char32_t pairs[];     // first, second, what they compose
extern const std::size_t pairs_size;
extern const char32_t classes[];   // first, last, canonical combining class
extern const std::size_t classes_size;
extern const char32_t general[], scripts[];   // number << 24 | the first scalar of a run
extern const std::size_t general_size, scripts_size;
// First and last of each range.
extern const char32_t separate[], extends[], consonants[], linkers[], prepends[], pictographs[];
extern const std::size_t separate_size, extends_size, consonants_size, linkers_size, prepends_size, pictographs_size;

struct NamedRanges {
  const char* name;
  const char32_t* ranges;   // first and last of each
  std::size_t size;
};
extern const NamedRanges pattern_classes[], pattern_scripts[];
extern const std::size_t pattern_classes_size, pattern_scripts_size;

}  // namespace tenfold::tokenizing::data
