// From CUDA C to machine code for one architecture, by NVRTC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/codegen/kernel_files.h"
#include "base/files/hash.h"

namespace tenfold::backends::cuda {

// Empty if NVRTC is there; else why not, in one line.
const std::string& compiler_why_not();
std::string compiler_name();   // "NVRTC 13.0"
std::string compiler_path();   // the file that was opened
// This file instead of those that are looked for; before anything else is asked.
void choose_compiler(const std::string& path);

// Sources that this process began to compile, itself or by helpers: none in a run, which tests ask.
std::int64_t compilations() noexcept;
void count_compilation() noexcept;
// What compile() makes of equal sources and equal files that they include, for equal architectures, is equal.
Hash128 code_key(const std::string& source, int arch);
// The binary of `source` for an architecture: 75, 80, 86, 89, 90 (compiled as 90a), 100, 120. Throws unsupported without NVRTC,
// and internal with the compiler's own words if the source is wrong.
std::string compile(const std::string& source, int arch);
// The same with these files instead of those of this process: what a helper is sent.
std::string compile(const std::string& source, const std::vector<KernelFile>& files, int arch);

}  // namespace tenfold::backends::cuda
