// The kernel for results and operands that lie anywhere: only such addresses make a run compile it.
#include "backends/cuda/codegen/conv/conv_small_c.h"

#include <gtest/gtest.h>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/library.h"

namespace tenfold::backends::cuda {
namespace {

TEST(ConvSmallC, CompilesForAnyAddresses) {
  add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  if (const std::string why = compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  SkinnyProblem few;
  GemmProblem& g = few.gemm;
  g.is_conv = true, g.channels = 3, g.n = 40, g.k = 27, g.kernel = {1, 3, 3}, g.begin = {0, 1, 1};
  g.in_extent = g.out_extent = {1, 17, 18};
  g.epilogue = {{EpilogueKind::column, DType::f16}, {EpilogueKind::whole, DType::f16}};
  for (const bool wide : {false, true}) {
    few.wide = few.pooled = wide;
    EXPECT_NO_THROW(compile(generate_conv_small_c(few, {8, 1, 2}, false), 75)) << wide;
  }
}

}  // namespace
}  // namespace tenfold::backends::cuda
