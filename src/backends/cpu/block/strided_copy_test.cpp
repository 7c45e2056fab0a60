// StridedCopy against plain loops: planes of few channels to pixels and back, every width around the vectors.
#include "backends/cpu/block/strided_copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/cpu/cpu_info.h"

namespace tenfold::backends::cpu {
namespace {

template <class T>
void planes_to_pixels_and_back(const MoveKernels& kernels) {
  for (std::int64_t channels = 1; channels <= 20; channels += channels < 9 ? 1 : 4) {
    for (std::int64_t width = 1; width <= 70; ++width) {
      const std::int64_t dims[] = {2, channels, 3, width}, plain[] = {channels * 3 * width, 3 * width, width, 1},
                         last[] = {channels * 3 * width, 1, width * channels, channels};
      const auto size = static_cast<std::size_t>(2 * channels * 3 * width);
      constexpr T kGuard = 0xEE;
      std::vector<T> planes(size), pixels(size + 32, kGuard), back(size + 32, kGuard), expected(size);
      for (std::size_t i = 0; i < size; ++i) planes[i] = static_cast<T>(i * 37 % 251 + (sizeof(T) > 1 ? i * 256 : 0));
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t i = 0; i < 3 * width; ++i)
            expected[static_cast<std::size_t>((n * 3 * width + i) * channels + c)] =
                planes[static_cast<std::size_t>((n * channels + c) * 3 * width + i)];
      Serial serial;
      const StridedCopy copy{&kernels, sizeof(T)};
      copy.run(serial, dims, 4, pixels.data(), last, planes.data(), plain);
      copy.run(serial, dims, 4, back.data(), plain, pixels.data(), last);
      for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_EQ(pixels[size + i], kGuard) << "wrote behind the pixels, width " << width;
        ASSERT_EQ(back[size + i], kGuard) << "wrote behind the planes, width " << width;
      }
      pixels.resize(size), back.resize(size);
      ASSERT_EQ(pixels, expected) << channels << " channels, width " << width;
      ASSERT_EQ(back, planes) << channels << " channels, width " << width;
    }
  }
}

TEST(StridedCopy, PlanesToPixelsAndBack) {
  for (const MoveKernels* kernels : {&tenfold_move_avx2, &tenfold_move_avx512}) {
    if (kernels == &tenfold_move_avx512 && !(this_cpu().features & kAvx512)) continue;
    planes_to_pixels_and_back<std::uint8_t>(*kernels);
    planes_to_pixels_and_back<std::uint16_t>(*kernels);
    planes_to_pixels_and_back<std::uint32_t>(*kernels);
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
