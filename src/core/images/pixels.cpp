// Sizes that can be, and colors as luminance.
#include "images/pixels.h"

#include <type_traits>

namespace tenfold::images {

Pixels luminance(const Pixels& colors) {
  constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;   // of 65536
  Pixels gray{colors.width, colors.height, 1, {}};
  colors.with_levels(gray, [&](const auto& from, auto& to) {
    to.resize(from.size() / 3);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto* p = &from[3 * i];
      to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>((kRed * p[0] + kGreen * p[1] + kBlue * p[2] + 0x8000) >> 16);
    }
  });
  return gray;
}

void expect_size(std::int64_t width, std::int64_t height) {
  // Pixels. A PNG of that many takes half a gigabyte while it is read, however small its file is.
  constexpr std::int64_t kMax = std::int64_t{1} << 26;
  if (width < 1 || height < 1) throw BrokenImage("it has no pixels");
  if (width > kMax || height > kMax || width * height > kMax)
    throw BrokenImage("it is of " + std::to_string(width) + " x " + std::to_string(height) + " pixels, more than 2^26");
}

Pixels room_for(std::int64_t width, std::int64_t height) {
  expect_size(width, height);
  Pixels pixels{static_cast<int>(width), static_cast<int>(height), 3, {}};
  pixels.values.resize(static_cast<std::size_t>(width * height * 3));
  return pixels;
}

}  // namespace tenfold::images
