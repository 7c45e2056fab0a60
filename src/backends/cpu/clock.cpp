// Timing a chain of additions.
#include "backends/cpu/clock.h"

#include <algorithm>
#include <chrono>

namespace tenfold::backends::cpu {

std::int64_t measured_clock_khz() noexcept {
#if defined(__x86_64__)
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 8, kRounds = 1000, kAdds = 64;   // whoever is interrupted once has others
  std::uint64_t sum = 0, one = 1;
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto start = Clock::now();
    // A register is added: processors know what constants add up to before they compute.
    for (int round = 0; round < kRounds; ++round) asm volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one) : "cc");
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (ms > 0) best = std::max(best, kRounds * kAdds / ms);
  }
  return static_cast<std::int64_t>(best);
#else
  return 0;
#endif
}

}  // namespace tenfold::backends::cpu
