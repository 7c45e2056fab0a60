// What the public view of devices says when the environment is wrong.
#include "tenfold/device.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "backends/cuda/device/library.h"
#include "tenfold/device_error.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

// In a process of its own, for a CPU is looked at once.
[[noreturn]] void exit_with_error_of(const char* features, void (*call)()) {
  setenv("TENFOLD_CPU_FEATURES", features, 1);
  try {
    call();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", std::string(name(e.kind())).c_str(), e.what());
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(Devices, ACpuIsAlwaysWell) {
  EXPECT_TRUE(device_health("cpu"));
  EXPECT_FALSE(last_device_error("cpu"));
  EXPECT_TRUE(device_health("cuda:63"));   // that nobody opened
  EXPECT_THROW(device_health("cuda:x"), Error);
  EXPECT_THROW(last_device_error("gpu"), Error);
}

// Reloads of a server ask for devices each time.
TEST(Devices, LibrariesAreLookedForOnce) {
  devices();
  const std::int64_t before = backends::cuda::searches();   // none where the loader finds all of them
  devices();
  why_no_gpu();
  EXPECT_EQ(backends::cuda::searches(), before);
}

TEST(Devices, AnUnknownCpuFeatureInTheEnvironmentIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const reported = "invalid_argument: .*TENFOLD_CPU_FEATURES: unknown CPU feature 'sse9', expected some of avx2 .*amxbf16";
  EXPECT_EXIT(exit_with_error_of("avx2,sse9", [] { devices(); }), testing::ExitedWithCode(3), reported);
  EXPECT_EXIT(exit_with_error_of("avx2,avx512", [] { devices(); }), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenfold
