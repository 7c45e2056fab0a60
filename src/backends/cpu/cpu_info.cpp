// CPU detection by cpuid and xgetbv.
#include "backends/cpu/cpu_info.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace tenfold::backends::cpu {
namespace {

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Leaf cpuid(unsigned leaf, unsigned sub = 0) {
  Leaf r;
  if (leaf <= static_cast<unsigned>(__get_cpuid_max(leaf & 0x80000000u, nullptr))) __cpuid_count(leaf, sub, r.a, r.b, r.c, r.d);
  return r;
}
bool bit(unsigned value, int n) { return value >> n & 1; }

// State components that the operating system saves; bits as in XCR0.
std::uint64_t saved_state() {
  if (!bit(cpuid(1).c, 27)) return 0;  // no OSXSAVE, no xgetbv
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}
bool saves(std::uint64_t mask) { return (saved_state() & mask) == mask; }
constexpr std::uint64_t kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;

std::uint32_t detect_features() {
  const Leaf one = cpuid(1), seven = cpuid(7), seven1 = seven.a >= 1 ? cpuid(7, 1) : Leaf{};
  std::uint32_t f = 0;
  if (!(saves(kYmm) && bit(one.c, 28) && bit(one.c, 12) && bit(one.c, 29) && bit(seven.b, 5) && bit(seven.b, 8))) return f;
  f |= kAvx2;
  const bool skylake = bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 28) && bit(seven.b, 30) && bit(seven.b, 31);
  if (!(saves(kZmm) && skylake)) return f;
  f |= kAvx512;
  if (bit(seven.c, 11)) f |= kVnni;
  if (bit(seven1.a, 5)) f |= kAvx512Bf16;
  // AMX kernels use the AVX-512 extensions of the same generation for what surrounds the tiles.
  if (saves(kTiles) && bit(seven.d, 24) && bit(seven.c, 1) && (f & kVnni) && (f & kAvx512Bf16) && request_amx()) {
    if (bit(seven.d, 25)) f |= kAmxInt8;
    if (bit(seven.d, 22)) f |= kAmxBf16;
  }
  return f;
}

std::string detect_name() {
  char text[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const Leaf r = cpuid(0x80000002u + i);
    std::memcpy(text + 16 * i, &r, 16);
  }
  std::string name(text);
  const std::size_t first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
  return first == std::string::npos ? "x86-64" : name.substr(first, last - first + 1);
}

// The brand alone does not tell cores apart: virtual machines of several generations are all an "Intel(R) Xeon(R) Processor".
std::string detect_model() {
  const unsigned a = cpuid(1).a, family = a >> 8 & 15, model = a >> 4 & 15;
  return cat("family ", family == 15 ? family + (a >> 20 & 255) : family, " model ",
             family == 6 || family == 15 ? model + (a >> 12 & 0xf0) : model, " stepping ", a & 15);
}

// TENFOLD_CPU_FEATURES, for tests of narrower machines.
std::uint32_t features_allowed() {
  const char* const list = std::getenv("TENFOLD_CPU_FEATURES");
  if (!list) return ~0u;
  try {
    return parse_features(list);
  } catch (Error& e) {
    throw e.within("the environment's TENFOLD_CPU_FEATURES");
  }
}

// Intel describes caches in leaf 4, AMD in leaf 0x8000001d, both in the same fields. Cores of two kinds differ in the first two levels, and
// this might run on either: they keep what any has.
void detect_caches(DeviceInfo& info) {
  const bool amd = bit(cpuid(0x80000001u).c, 22), hybrid = bit(cpuid(7).d, 15);
  for (unsigned i = 0; i < 8; ++i) {
    const Leaf r = cpuid(amd ? 0x8000001du : 4u, i);
    const unsigned type = r.a & 31, level = r.a >> 5 & 7;
    if (type == 0) break;
    if (type == 2 || (hybrid && level < 3)) continue;  // instructions
    const std::int64_t ways = (r.b >> 22) + 1, partitions = (r.b >> 12 & 1023) + 1, line = (r.b & 4095) + 1, sets = std::int64_t{r.c} + 1;
    (level == 1 ? info.l1_bytes : level == 2 ? info.l2_bytes : info.l3_bytes) = ways * partitions * line * sets;
  }
}

DeviceInfo detect() {
  DeviceInfo info;
  info.name = cat(detect_name(), ", ", detect_model());
  info.features = detect_features() & features_allowed();
  detect_caches(info);
  return info;
}

}  // namespace

const DeviceInfo& this_cpu() {
  static const DeviceInfo info = detect();
  return info;
}

bool request_amx() noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace tenfold::backends::cpu
