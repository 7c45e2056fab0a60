// From CUDA C to machine code for one architecture, by NVRTC.
#pragma once

#include <string>
#include <vector>

namespace tenfold::backends::cuda {

// Empty if NVRTC is there; else why not, in one line.
const std::string& compiler_why_not();
std::string compiler_version();  // "13.0"
// The binary of `source` for an architecture: 75, 80, 86, 89, 90 (compiled as 90a), 100, 120. Throws unsupported without NVRTC,
// and internal with the compiler's own words if the source is wrong.
std::vector<char> compile(const std::string& source, int arch);

}  // namespace tenfold::backends::cuda
