// What the scatter operators share: how an update meets the element it falls on.
#pragma once

#include "ops/elements.h"

namespace tenfold::ops {

enum class Reduction { none, add, mul, max, min };
Reduction reduction_of(const ir::Attributes& attributes);
// Refuses a node whose reduction does not exist, or is none for the type of its operand 0.
void expect_reduction(const ir::InferCall& call);
// Element `at` of `data` becomes its reduction with element `from` of `updates`.
void combine(Reduction reduction, DType type, void* data, std::int64_t at, const void* updates, std::int64_t from);

}  // namespace tenfold::ops
