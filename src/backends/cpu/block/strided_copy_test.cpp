// StridedCopy against plain loops: planes of few channels to pixels and back, every width around the vectors.
#include "backends/cpu/block/strided_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenfold::backends::cpu {
namespace {

TEST(StridedCopy, PlanesToPixelsAndBack) {
  for (std::int64_t channels = 1; channels <= 5; ++channels) {
    for (std::int64_t width = 1; width <= 70; ++width) {
      const std::int64_t dims[] = {2, channels, 3, width}, plain[] = {channels * 3 * width, 3 * width, width, 1},
                         last[] = {channels * 3 * width, 1, width * channels, channels};
      const auto size = static_cast<std::size_t>(2 * channels * 3 * width);
      constexpr std::uint8_t kGuard = 0xEE;
      std::vector<std::uint8_t> planes(size), pixels(size + 32, kGuard), back(size + 32, kGuard), want(size);
      for (std::size_t i = 0; i < size; ++i) planes[i] = static_cast<std::uint8_t>(i * 37 % 251);
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t i = 0; i < 3 * width; ++i)
            want[static_cast<std::size_t>((n * 3 * width + i) * channels + c)] =
                planes[static_cast<std::size_t>((n * channels + c) * 3 * width + i)];
      Serial serial;
      const StridedCopy copy{&tenfold_move_avx2, 1};
      copy.run(serial, dims, 4, pixels.data(), last, planes.data(), plain);
      copy.run(serial, dims, 4, back.data(), plain, pixels.data(), last);
      for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_EQ(pixels[size + i], kGuard) << "wrote behind the pixels, width " << width;
        ASSERT_EQ(back[size + i], kGuard) << "wrote behind the planes, width " << width;
      }
      pixels.resize(size), back.resize(size);
      ASSERT_EQ(pixels, want) << channels << " channels, width " << width;
      ASSERT_EQ(back, planes) << channels << " channels, width " << width;
    }
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
