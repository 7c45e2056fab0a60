// A hang is an input that keeps the processor busy for a second; time on the wall would also count what other programs take.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace tenfold::fuzz {

class CpuLimit {
 public:
  ~CpuLimit() {
    const double took = now() - start_;
    if (took < 1) return;
    std::fprintf(stderr, "this input took %.1f s\n", took);
    std::abort();  // libFuzzer keeps the input
  }

 private:
  static double now() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  double start_ = now();
};

}  // namespace tenfold::fuzz
