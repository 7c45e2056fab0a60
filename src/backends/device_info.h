// What a plan was built for and what a machine offers: compared when a plan is loaded.
#pragma once

#include <cstdint>
#include <string>

namespace tenfold::backends {

// CPU features that kernels are dispatched on. A set of bits; printed by text().
enum Feature : std::uint32_t {
  kAvx2 = 1,           // AVX2, FMA, F16C
  kAvx512 = 2,         // F, BW, DQ, VL, CD
  kVnni = 4,           // AVX512_VNNI
  kAvx512Bf16 = 8,
  kAmxInt8 = 16,
  kAmxBf16 = 32,
};
std::string feature_text(std::uint32_t features);                  // "avx2 avx512 vnni"
std::uint32_t parse_features(std::string_view text);               // throws invalid_argument naming the word

struct DeviceInfo {
  std::string kind = "cpu";        // cpu, cuda, null
  std::string name;                // "AMD EPYC ..."
  std::uint32_t features = 0;
  std::int32_t arch = 0;           // of a GPU: its compute capability times ten, 90
  std::int32_t ordinal = 0;        // which of several of its kind on this machine; not part of a plan
  std::string libraries;           // versions of what a GPU's tactics call: "driver 13.0, cublasLt 13.1.0"
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;   // data caches, per core (l3: shared)
  void* opened = nullptr;          // of a GPU: the cuda::Device that this describes, while its backend lives; not part of a plan
};

}  // namespace tenfold::backends
