// What machine this is: its devices, and what kernels may use of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// How the host waits for a GPU: it looks again and again, or lets the processor go. In between: it looks for a short while, then sleeps.
enum class Wait : std::uint8_t { spin_shortly, spin, sleep };

struct DeviceDescription {
  std::string device;                                             // as BuildConfig::device takes it: "cpu"
  std::string name;                                               // "AMD EPYC 7B13"
  std::string features;                                           // "avx2 avx512 vnni", "sm_90": what kernels are chosen by
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;          // data caches; l1 and l2 of one core
  int threads = 0;                                                // what this process may use
  std::vector<std::string> libraries;                             // "oneDNN 2.6.3", "cuBLASLt 13.1.0": what kernels may call, or why not
  std::int64_t memory_bytes = 0;                                  // of a GPU
  int cores = 0;                                                  // that those threads can have, each with all of its hyperthreads
};
TENFOLD_API std::vector<DeviceDescription> devices();
TENFOLD_API std::int64_t free_memory(const std::string& device);  // bytes that a GPU ("cuda:0") has free now; -1 of a CPU
TENFOLD_API std::string why_no_gpu();                             // one line; empty if devices() lists one
// A further place for the GPU libraries: a folder with them, or a Python environment. To be called before a GPU is used.
TENFOLD_API void look_for_libraries_in(const std::string& folder);

// The bits for BuildConfig::cpu_features and LoadOptions::cpu_features: "avx2,avx512". Throws invalid_argument naming the word.
TENFOLD_API std::uint32_t parse_cpu_features(std::string_view text);

}  // namespace tenfold
