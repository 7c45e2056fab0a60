// What operators on strings share: pairs of elements broadcast as NumPy does, and characters of UTF-8.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// The shape that operands 0 and 1 span, and for each of its elements the places in both. Throws invalid_argument where they disagree.
struct BroadcastPair {
  Shape shape;
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
};
BroadcastPair broadcast_pair(const ir::ValueCall& call);
void infer_broadcast_strings(ir::InferCall& call, DType result);

// Small or capital letters of any alphabet, as Unicode pairs them one by one; what is no UTF-8 stays.
std::string changed_case(const std::string& text, bool upper);

// The character of UTF-8 at `at`, and its length; 0: no UTF-8. Forms longer than need be are taken.
int decode_character(const std::string& text, std::size_t at, std::uint32_t& character);

}  // namespace tenfold::ops
