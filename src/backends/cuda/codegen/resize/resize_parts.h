// What Resize's kernels consist of, for codegen/resize/resize.cpp, which puts the macros that they use before it.
#pragma once

#include <string>

namespace tenfold::backends::cuda {

std::string resize_parts();

}  // namespace tenfold::backends::cuda
