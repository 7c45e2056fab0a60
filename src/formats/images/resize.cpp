// Two passes, each along one direction; the weights of a pass are the same for all its lines.
#include "formats/images/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenfold::formats {
namespace {

// What one new pixel takes: `weights` of the old ones from `first` on, whole numbers of 2^-22. They add up to 1. Halves are frequent, so
// that their rounding shows: with as many bits as Pillow has it goes the same way.
constexpr int kBits = 22;
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> taps_of(int from, int to) {
  const double step = static_cast<double>(from) / to, reach = std::max(step, 1.0);   // half the triangle's width
  std::vector<Taps> all(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * step;
    const int first = std::max(0, static_cast<int>(center - reach + 0.5)), end = std::min(from, static_cast<int>(center + reach + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int k = first; k < end; ++k) {
      weights.push_back(std::max(0.0, 1 - std::abs(k + 0.5 - center) / reach));
      sum += weights.back();
    }
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = first;
    for (const double w : weights) taps.weights.push_back(static_cast<std::int32_t>(std::lround(w / sum * (1 << kBits))));
  }
  return all;
}

[[noreturn]] void refuse(const Pixels& image, const char* what, int width, int height) {
  throw Error(ErrorKind::invalid_argument, "an image of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                                               " pixels cannot be " + what + " " + std::to_string(width) + " x " + std::to_string(height));
}

constexpr std::int32_t kHalf = 1 << (kBits - 1);
std::uint8_t level(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kBits, 0, 255)); }

Pixels along_rows(const Pixels& image, int width) {
  const std::size_t c = static_cast<std::size_t>(image.channels), from = static_cast<std::size_t>(image.width) * c;
  Pixels out{width, image.height, image.channels, {}};
  out.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(image.height) * c);
  const std::vector<Taps> all = taps_of(image.width, width);
  std::uint8_t* to = out.values.data();
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = image.values.data() + static_cast<std::size_t>(y) * from;
    for (const Taps& taps : all)
      for (std::size_t k = 0; k < c; ++k) {
        const std::uint8_t* p = row + static_cast<std::size_t>(taps.first) * c + k;
        std::int32_t sum = kHalf;
        for (const std::int32_t w : taps.weights) sum += w * *p, p += c;
        *to++ = level(sum);
      }
  }
  return out;
}

Pixels along_columns(const Pixels& image, int height) {
  const std::size_t row = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  Pixels out{image.width, height, image.channels, {}};
  out.values.resize(row * static_cast<std::size_t>(height));
  std::vector<std::int32_t> sums(row);
  std::uint8_t* to = out.values.data();
  for (const Taps& taps : taps_of(image.height, height)) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const std::uint8_t* p = image.values.data() + static_cast<std::size_t>(taps.first) * row;
    for (const std::int32_t w : taps.weights)
      for (std::size_t i = 0; i < row; ++i) sums[i] += w * *p++;
    for (const std::int32_t sum : sums) *to++ = level(sum);
  }
  return out;
}

}  // namespace

Pixels resized(const Pixels& image, int width, int height) {
  if (width < 1 || height < 1) refuse(image, "resized to", width, height);
  Pixels out = width == image.width ? image : along_rows(image, width);
  return height == image.height ? out : along_columns(out, height);
}

Pixels cropped(const Pixels& image, int width, int height) {
  if (width < 1 || height < 1 || width > image.width || height > image.height) refuse(image, "cropped to", width, height);
  const auto before = [](int have, int expected) { return static_cast<std::size_t>(std::nearbyint((have - expected) / 2.0)); };
  const std::size_t left = before(image.width, width), top = before(image.height, height), c = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(width) * c, from = static_cast<std::size_t>(image.width) * c;
  Pixels out{width, height, image.channels, {}};
  out.values.resize(row * static_cast<std::size_t>(height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
    std::memcpy(out.values.data() + y * row, image.values.data() + (top + y) * from + left * c, row);
  return out;
}

}  // namespace tenfold::formats
