// Runtimes, options of runs and bindings in C, used by a C file.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tenfold/c/status.h"

extern "C" int tenfold_use_runtime_from_c(const char* plan_path);

TEST(CRuntime, UsedFromC) {
  const std::string path = testing::TempDir() + "c_runtime_test.plan";
  EXPECT_EQ(tenfold_use_runtime_from_c(path.c_str()), 0) << "the line of runtime_use.c; last error: " << tenfold_last_error();
  std::remove(path.c_str());
}
