// Two passes, each along one direction; the weights of a pass are the same for all its lines.
#include "formats/images/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

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

// What sums of weighted levels are made in: 8 bits beside the weights' 22 leave one bit of 32, 16 do not fit.
template <class T>
using Sum = std::conditional_t<sizeof(T) == 1, std::int32_t, std::int64_t>;
template <class T>
constexpr Sum<T> kHalf = Sum<T>{1} << (kBits - 1);
template <class T>
T level(Sum<T> sum) {
  return static_cast<T>(std::clamp<Sum<T>>(sum >> kBits, 0, std::numeric_limits<T>::max()));
}

template <class T>
void along_rows(const Pixels& image, const std::vector<T>& levels, Pixels& out, std::vector<T>& made) {
  const std::size_t c = static_cast<std::size_t>(image.channels), from = static_cast<std::size_t>(image.width) * c;
  made.resize(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(image.height) * c);
  const std::vector<Taps> all = taps_of(image.width, out.width);
  T* to = made.data();
  for (int y = 0; y < image.height; ++y) {
    const T* row = levels.data() + static_cast<std::size_t>(y) * from;
    for (const Taps& taps : all)
      for (std::size_t k = 0; k < c; ++k) {
        const T* p = row + static_cast<std::size_t>(taps.first) * c + k;
        Sum<T> sum = kHalf<T>;
        for (const std::int32_t w : taps.weights) sum += Sum<T>{w} * *p, p += c;
        *to++ = level<T>(sum);
      }
  }
}

template <class T>
void along_columns(const Pixels& image, const std::vector<T>& levels, Pixels& out, std::vector<T>& made) {
  const std::size_t row = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  made.resize(row * static_cast<std::size_t>(out.height));
  std::vector<Sum<T>> sums(row);
  T* to = made.data();
  for (const Taps& taps : taps_of(image.height, out.height)) {
    std::fill(sums.begin(), sums.end(), kHalf<T>);
    const T* p = levels.data() + static_cast<std::size_t>(taps.first) * row;
    for (const std::int32_t w : taps.weights)
      for (std::size_t i = 0; i < row; ++i) sums[i] += Sum<T>{w} * *p++;
    for (const Sum<T> sum : sums) *to++ = level<T>(sum);
  }
}

}  // namespace

Pixels resized(const Pixels& image, int width, int height) {
  if (width < 1 || height < 1) refuse(image, "resized to", width, height);
  Pixels rows = image;
  if (width != image.width) {
    rows = {width, image.height, image.channels, {}};
    image.with_levels(rows, [&](const auto& from, auto& to) { along_rows(image, from, rows, to); });
  }
  if (height == image.height) return rows;
  Pixels out{width, height, image.channels, {}};
  rows.with_levels(out, [&](const auto& from, auto& to) { along_columns(rows, from, out, to); });
  return out;
}

Pixels cropped(const Pixels& image, int width, int height) {
  if (width < 1 || height < 1 || width > image.width || height > image.height) refuse(image, "cropped to", width, height);
  const auto before = [](int have, int expected) { return static_cast<std::size_t>(std::nearbyint((have - expected) / 2.0)); };
  const std::size_t left = before(image.width, width), top = before(image.height, height), c = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(width) * c, from = static_cast<std::size_t>(image.width) * c;
  Pixels out{width, height, image.channels, {}};
  image.with_levels(out, [&](const auto& levels, auto& to) {
    to.resize(row * static_cast<std::size_t>(height));
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
      std::copy_n(levels.data() + (top + y) * from + left * c, row, to.data() + y * row);
  });
  return out;
}

}  // namespace tenfold::formats
