// What headers need that C++ and CUDA C share: integers of 64 bits, and where a member lies (NVRTC has no offsetof).
#pragma once

#ifdef __CUDACC_RTC__
#define TENFOLD_OFFSET(type, member) __INTADDR__(&((type*)0)->member)
#else
#define TENFOLD_OFFSET(type, member) __builtin_offsetof(type, member)
#endif

#ifdef __CUDACC__
typedef long long i64;
#else
#include <cstdint>

namespace tenfold::backends::cuda {
using i64 = std::int64_t;
}
#endif
