// A profiler that attaches as NVTX prescribes gets the ranges; one that takes no part in ranges is not called.
#include "base/nvtx.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace tenfold {
namespace {

std::string heard;
int push(const char* name) { return heard += std::string("<") + name, 0; }
int pop() { return heard += ">", 0; }

using Function = void (*)();
struct Callbacks {
  std::size_t bytes;
  int (*functions_of)(unsigned module, Function*** table, unsigned* size);
};

int take_ranges(NvtxExport tables) {
  const auto* callbacks = static_cast<const Callbacks*>(tables(1));
  Function** core = nullptr;
  unsigned size = 0;
  if (!callbacks || callbacks->bytes < sizeof(Callbacks) || !callbacks->functions_of(1, &core, &size) || size != 16) return 0;
  *core[9] = reinterpret_cast<Function>(push);
  *core[11] = reinterpret_cast<Function>(pop);
  return 1;
}

TEST(Nvtx, AProfilerThatTakesNoRangesIsNotCalled) {
  RangeMarks marks;
  EXPECT_FALSE(attach_profiler(nullptr, marks));
  EXPECT_FALSE(attach_profiler([](NvtxExport) { return 0; }, marks));
  EXPECT_FALSE(attach_profiler([](NvtxExport tables) { return tables(7) == nullptr ? 1 : 0; }, marks));
  EXPECT_EQ(marks.open, nullptr);
}

TEST(Nvtx, RangesReachTheProfiler) {
  RangeMarks marks;
  ASSERT_TRUE(attach_profiler(take_ranges, marks));
  marks.open("run"), marks.open("step"), marks.close(), marks.close();
  EXPECT_EQ(heard, "<run<step>>");
}

}  // namespace
}  // namespace tenfold
