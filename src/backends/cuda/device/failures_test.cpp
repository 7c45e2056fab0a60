// Failures in words: what a fork of a process that uses a GPU is told.
#include "backends/cuda/device/failures.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace tenfold::backends::cuda {
namespace {

constexpr int kNotInitialized = 3;

std::string words() {
  char text[256];
  describe(kNotInitialized, "cuMemAllocAsync", text, sizeof text);
  return text;
}

TEST(Failures, AForkHasNoGpu) {
  watch_forks();
  EXPECT_EQ(words().find("forked"), std::string::npos);
  EXPECT_FALSE(is_lost(0));
  const pid_t child = ::fork();
  if (child == 0) {   // the end of the words, too: they were not cut
    const bool reported = words().find("'spawn'") != std::string::npos && why_lost(0).find("'spawn'") != std::string::npos;
    ::_exit(reported && is_lost(0) && lost_by(0) == kNotInitialized ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tenfold::backends::cuda
