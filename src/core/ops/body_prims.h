// What a unary or binary Body primitive does to one number. Results are not yet rounded or wrapped to the value's type.
#pragma once

#include "ir/body.h"

namespace tenfold::ops {

double real_unary(ir::Prim prim, double x);
double real_binary(ir::Prim prim, double a, double b);                                        // comparisons left out
std::int64_t whole_unary(ir::Prim prim, DType dtype, std::int64_t x);
std::int64_t whole_binary(ir::Prim prim, DType dtype, std::int64_t a, std::int64_t b);   // u64 by its bits

bool is_signed(DType integer);
std::int64_t min_integer(DType type);      // of an integer type or boolean
std::int64_t max_integer(DType type);   // u64 by its bits

}  // namespace tenfold::ops
