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

}  // namespace tenfold::tokenizing::data
