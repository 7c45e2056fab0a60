// The devices of this machine, and what kernels may use of them. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// How the host waits for a GPU. spin: it looks again and again. sleep: it lets the processor go. spin_shortly: it looks
// for a short while, then sleeps.
enum class Wait : std::uint8_t { spin_shortly, spin, sleep };

struct DeviceDescription {
  std::string device;                                             // as BuildConfig::device takes it: "cpu"
  std::string name;                                               // "AMD EPYC 7B13"
  std::string features;                                           // kernels are chosen by it: "avx2 avx512", "sm_90"
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;          // data caches; l1 and l2 of one core
  int threads = 0;                                                // how many this process may use
  // Libraries that kernels may call, or why they may not: "oneDNN 2.6.3", "cuBLASLt 13.1.0".
  std::vector<std::string> libraries;
  std::int64_t memory_bytes = 0;                                  // of a GPU
  int cores = 0;                                                  // cores of those threads, with all their hyperthreads
};
TENFOLD_API std::vector<DeviceDescription> devices();
// Whether a name of a device ("cuda:0", "cpu") is that of a GPU, be it there or not.
TENFOLD_API bool is_gpu(std::string_view device);
// Bytes that a GPU ("cuda:0") has free now; -1 for a CPU.
TENFOLD_API std::int64_t free_memory(const std::string& device);
// Why no GPU can be used, in one line; empty if devices() lists one.
TENFOLD_API std::string why_no_gpu();
// Adds a place to look for the GPU libraries in: a folder with them, or a Python environment. Call it before a GPU is
// used.
TENFOLD_API void look_for_libraries_in(const std::string& folder);

// Turns "avx2,avx512" into the bits of BuildConfig::cpu_features and LoadOptions::cpu_features. Throws
// invalid_argument, which names an unknown word.
TENFOLD_API std::uint32_t parse_cpu_features(std::string_view text);

}  // namespace tenfold
