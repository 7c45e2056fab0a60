// Cache lines are flushed one by one; the instruction that need not wait for its predecessor is used where the CPU has it.
#include "backends/cpu/evict.h"

#include <cpuid.h>
#include <immintrin.h>

namespace tenfold::backends::cpu {
namespace {

constexpr std::size_t kLine = 64;

__attribute__((target("clflushopt"))) void flush_unordered(const std::byte* at, const std::byte* end) noexcept {
  for (; at < end; at += kLine) _mm_clflushopt(const_cast<std::byte*>(at));
}
void flush_ordered(const std::byte* at, const std::byte* end) noexcept {
  for (; at < end; at += kLine) _mm_clflush(at);
}

bool has_clflushopt() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 23));
}

}  // namespace

void evict(std::span<const std::byte> memory) noexcept {
  static const bool unordered = has_clflushopt();
  const std::byte* const end = memory.data() + memory.size();
  if (unordered)
    flush_unordered(memory.data(), end);
  else
    flush_ordered(memory.data(), end);
  _mm_mfence();
}

}  // namespace tenfold::backends::cpu
