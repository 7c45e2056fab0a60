// GridSample's places: which elements of a dim one reads, and how much each counts. Shared by the reference kernel and tactics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ir/attributes.h"

namespace tenfold::ops {

struct Sampling {
  enum class Mode { nearest, linear, cubic } mode;
  enum class Padding { zeros, border, reflection } padding;
  bool corners;  // -1 and 1 are the middles of the outermost elements, not their outer edges
  explicit Sampling(const ir::Attributes& a)
      : mode(a.string("mode") == "nearest" ? Mode::nearest
             : a.string("mode") == "cubic" ? Mode::cubic
                                           : Mode::linear),
        padding(a.string("padding_mode") == "zeros"    ? Padding::zeros
                : a.string("padding_mode") == "border" ? Padding::border
                                                       : Padding::reflection),
        corners(a.integer("align_corners") != 0) {}
};

// Thrown back from both borders until it lies between them.
template <class T>
T reflected(T at, T low, T high) {
  const T range = high - low;
  if (range <= 0) return low;
  const T away = at < low ? low - at : at > high ? at - high : 0;
  if (away == 0) return at;
  const T turns = std::floor(away / range), rest = away - turns * range;
  const bool from_low = (at < low) == (std::fmod(turns, T(2)) == 0);
  return from_low ? low + rest : high - rest;
}

// Along one dim: which elements a place reads, and their weights. Weight 0 stands for what lies outside and counts as zero.
struct Taps {
  int count = 0;
  std::int64_t at[4] = {};
  double weight[4] = {};
};

inline double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double x = std::fabs(distance);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <class T>
Taps taps_at(const Sampling& s, T place, std::int64_t extent) {
  const T size = static_cast<T>(extent), low = s.corners ? T(0) : T(-0.5), high = s.corners ? size - 1 : size - T(0.5);
  T x = s.corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
  if (s.mode == Sampling::Mode::nearest) x = std::nearbyint(x);
  const bool cubic = s.mode == Sampling::Mode::cubic;   // brings each element that it reads back to the border, not the place
  if (s.padding == Sampling::Padding::border && !cubic && !std::isnan(x)) x = std::min(std::max(x, T(0)), size - 1);
  if (s.padding == Sampling::Padding::border && cubic && !std::isnan(x)) x = std::min(std::max(x, T(-3)), size + 2);
  if (s.padding == Sampling::Padding::reflection && std::isfinite(x)) x = reflected(x, low, high);
  const int count = s.mode == Sampling::Mode::nearest ? 1 : s.mode == Sampling::Mode::linear ? 2 : 4;
  if (std::isnan(x)) return {.count = 1, .at = {0}, .weight = {static_cast<double>(x)}};
  if (!(x > -4 && x < size + 4)) return {};   // before it is rounded to an integer that could not hold it
  const auto first = static_cast<std::int64_t>(std::floor(x)) - (count == 4);
  Taps taps{.count = count};
  for (int i = 0; i < count; ++i) {
    const double distance = std::fabs(static_cast<double>(x) - static_cast<double>(first + i));
    taps.weight[i] = count == 1 ? 1 : count == 2 ? 1 - distance : cubic_weight(distance);
    taps.at[i] = first + i;
    if (s.padding == Sampling::Padding::reflection)
      taps.at[i] =
          static_cast<std::int64_t>(reflected(static_cast<double>(first + i), static_cast<double>(low), static_cast<double>(high)));
    if (s.padding == Sampling::Padding::zeros && (taps.at[i] < 0 || taps.at[i] >= extent)) taps.weight[i] = 0;
    taps.at[i] = std::min(std::max<std::int64_t>(taps.at[i], 0), extent - 1);
  }
  return taps;
}

}  // namespace tenfold::ops
