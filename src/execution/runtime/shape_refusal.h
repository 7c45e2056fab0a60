// The words for a shape that no profile covers.
#pragma once

#include <string>

#include "runtime/context.h"

namespace tenfold::runtime {

// Why input `b` may not have the shape that it was given: what each profile allows, or with which input it disagrees.
std::string shape_refusal(const ContextState& context, std::size_t b);

}  // namespace tenfold::runtime
