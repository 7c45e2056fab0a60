// How errors end that say that a GPU's memory is lacking.
#pragma once

#include <string>

namespace tenfold::backends::cuda {

// How many bytes of the current GPU are free, and what takes less.
std::string memory_left();

}  // namespace tenfold::backends::cuda
