// Evenly spaced indices of one axis, and what a window that slides over an axis reads for some of its results.
#pragma once

#include <cstdint>
#include <optional>

namespace tenfold::passes {

// first, first + step, ...: `count` of them, at least one. `step` is 1 where there is only one.
struct Positions {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t last() const { return first + (count - 1) * step; }
  bool operator==(const Positions&) const = default;
};

// The fewest evenly spaced ones that hold both.
Positions joined(const Positions& a, const Positions& b);
// Where `part`, which `all` holds, lies among its elements.
Positions within(const Positions& all, const Positions& part);
// The elements of `outer` that `inner` counts.
Positions composed(const Positions& outer, const Positions& inner);

// What lies inside an axis of `extent` elements, and how many lie in front of it and behind it. Nothing if none lies inside.
struct Inside {
  Positions at;
  std::int64_t before = 0, behind = 0;
};
std::optional<Inside> inside(const Positions& at, std::int64_t extent);

// A window of `kernel` taps along one axis, which begins `pad` elements in front of it.
struct Taps {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
};
// What the window reads for the results `at`, and the window that computes just these from just that (its pad is 0).
struct Reads {
  Positions at;
  Taps taps;
};
Reads read_for(const Taps& taps, const Positions& at);

}  // namespace tenfold::passes
