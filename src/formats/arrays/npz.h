// NumPy's archives (.npz): a zip file (zip64 too) of .npy members, stored or deflated. Those that are written here are stored.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/arrays/npy.h"

namespace tenfold::formats {

// Arrays by name; what is not compressed refers to `bytes`. Throws Error(io).
std::map<std::string, NpyArray> parse_npz(std::string_view bytes, const std::string& what);
std::string to_npz(const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace tenfold::formats
