// Dims in messages: expressions of any length in a line that people read.
#pragma once

#include "ir/dim.h"

namespace tenfold::ir {

// text(), its middle left out beyond 200 characters.
std::string brief(Dim dim);
std::string brief(std::span<const Dim> dims);

}  // namespace tenfold::ir
