// The CUDA files of kernels/, which are embedded as text and given to NVRTC under the names by which all sources include them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::backends::cuda {

struct KernelFile {
  std::string_view name;   // "backends/cuda/kernels/gemm/gemm_wgmma.cu"
  std::string_view text;
};

std::span<const KernelFile> embedded_kernel_files();   // sorted by name; cmake/kernels.cmake writes it

// The files that `text` includes, and those that these include, each once. Files that lie in the folder TENFOLD_CUDA_KERNELS (as
// gemm/gemm_wgmma.cu) are read from there, once for the process. Throws internal where `text` includes a file that is none of them,
// and io where that variable names no folder.
std::vector<KernelFile> included_kernel_files(std::string_view text);

// How many files come from the folder that TENFOLD_CUDA_KERNELS names; empty where it is not set.
std::string kernel_override_note();

}  // namespace tenfold::backends::cuda
