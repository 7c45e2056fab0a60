// Windows of padded images beside a padding that is written out, for every mode, rank and type.
#include "windows/cut.h"

#include <gtest/gtest.h>

#include "base/threads/cpu_count.h"
#include "tenfold/error.h"
#include "windows/window_state.h"

namespace tenfold {
namespace {

Tensor counted(Shape shape) {
  Tensor tensor(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i + 1);
  return tensor;
}

TEST(Cut, AWindowLargerThanTheImage) {
  const Tensor images = counted({1, 1, 2, 3});
  const auto cut = [&](WindowPadding padding) {
    const SlidingWindow windows({2, 3}, {.roi = {3, 5}, .padding = padding, .cval = -1});
    std::vector<float> window(15);
    windows.cut(images, 0, 1, DType::f32, window.data());
    return window;
  };
  EXPECT_EQ(cut(WindowPadding::constant), (std::vector<float>{-1, 1, 2, 3, -1, -1, 4, 5, 6, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(cut(WindowPadding::replicate), (std::vector<float>{1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 4, 4, 5, 6, 6}));
  EXPECT_EQ(cut(WindowPadding::reflect), (std::vector<float>{2, 1, 2, 3, 2, 5, 4, 5, 6, 5, 2, 1, 2, 3, 2}));
  EXPECT_EQ(cut(WindowPadding::circular), (std::vector<float>{3, 1, 2, 3, 1, 6, 4, 5, 6, 4, 3, 1, 2, 3, 1}));
}

TEST(Cut, FourAxesAndTwoImages) {
  const Tensor images = counted({2, 2, 3, 2, 3, 4});
  const SlidingWindow windows({3, 2, 3, 4}, {.roi = {2, 1, 2, 3}, .overlap = {0}});
  ASSERT_EQ(windows.count(), 16);
  for (std::int64_t w = 0; w < 2 * windows.count(); ++w) {
    std::vector<float> window(2 * 12);
    windows.cut(images, w, 1, DType::f32, window.data());
    const Shape at = windows.place(w % 16);
    std::size_t i = 0;
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t a = at[0]; a < at[0] + 2; ++a)
        for (std::int64_t z = at[2]; z < at[2] + 2; ++z)
          for (std::int64_t x = at[3]; x < at[3] + 3; ++x)
            ASSERT_EQ(window[i++], images.data<float>()[((((w / 16 * 2 + c) * 3 + a) * 2 + at[1]) * 3 + z) * 4 + x]);
  }
}

TEST(Cut, TypesAreConverted) {
  Tensor images(DType::u16, {1, 1, 4});
  for (int i = 0; i < 4; ++i) images.mutable_data<std::uint16_t>()[i] = static_cast<std::uint16_t>(i * 1000);
  const SlidingWindow windows({4}, {.roi = {2}, .overlap = {0}});
  float as_floats[4];
  windows.cut(images, 0, 2, DType::f32, as_floats);
  EXPECT_EQ(as_floats[3], 3000);
  std::uint16_t halves[4];
  windows.cut(images, 0, 2, DType::f16, halves);
  EXPECT_EQ(halves[1], 0x63d0);   // 1000
  EXPECT_THROW(windows.cut(images, 0, 2, DType::u8, halves), Error);
  EXPECT_THROW(windows.cut(images, 0, 3, DType::f32, as_floats), Error);
  const SlidingWindow padded({4}, {.roi = {6}, .cval = -1});
  EXPECT_THROW(padded.cut(images, 0, 1, DType::u16, halves), Error);   // u16 has no -1
}

TEST(Threads, SmallWorkTakesTheCallersAlone) {
  EXPECT_EQ(windows::make_parallel(0, 1000)->workers(), 1);
  EXPECT_EQ(windows::make_parallel(0, 1 << 20)->workers(), default_threads());
  EXPECT_EQ(windows::make_parallel(2, 1000)->workers(), 2);   // as told
}

}  // namespace
}  // namespace tenfold
