// What NormMatMul makes of two products.
#pragma once

#include <optional>

#include "ir/attributes.h"
#include "ir/body.h"

namespace tenfold::ops {

// The attribute `combine`: a body that makes one value of `type` of two. Nothing if it is no such body.
std::optional<ir::Body> combine_of(const ir::Attributes& attributes, DType type);

}  // namespace tenfold::ops
