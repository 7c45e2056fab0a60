#include "passes/positions.h"

#include <algorithm>
#include <numeric>

namespace tenfold::passes {
namespace {

std::int64_t distance(const Positions& p) { return p.count > 1 ? p.step : 0; }

Positions spaced(std::int64_t first, std::int64_t last, std::int64_t step) {
  return step == 0 ? Positions{first, 1, 1} : Positions{first, step, (last - first) / step + 1};
}

}  // namespace

Positions joined(const Positions& a, const Positions& b) {
  const std::int64_t step = std::gcd(std::gcd(distance(a), distance(b)), a.first - b.first);
  return spaced(std::min(a.first, b.first), std::max(a.last(), b.last()), step);
}

Positions within(const Positions& all, const Positions& part) {
  return {(part.first - all.first) / all.step, part.count > 1 ? part.step / all.step : 1, part.count};
}

Positions composed(const Positions& outer, const Positions& inner) {
  return {outer.first + inner.first * outer.step, inner.count > 1 ? inner.step * outer.step : 1, inner.count};
}

std::optional<Inside> inside(const Positions& at, std::int64_t extent) {
  Inside found;
  if (at.first < 0) found.before = std::min(at.count, (-at.first + at.step - 1) / at.step);
  if (at.last() >= extent) found.behind = std::min(at.count, (at.last() - extent) / at.step + 1);
  const std::int64_t count = at.count - found.before - found.behind;
  if (count < 1) return std::nullopt;
  found.at = {at.first + found.before * at.step, count > 1 ? at.step : 1, count};
  return found;
}

Reads read_for(const Taps& taps, const Positions& at) {
  const std::int64_t between = distance(at) * taps.stride, dilation = taps.kernel > 1 ? taps.dilation : 0;
  const std::int64_t step = std::max<std::int64_t>(1, std::gcd(between, dilation));
  const std::int64_t first = at.first * taps.stride - taps.pad;
  const std::int64_t last = first + (at.count - 1) * between + (taps.kernel - 1) * dilation;
  return {spaced(first, last, last == first ? 0 : step),
          {taps.kernel, std::max<std::int64_t>(1, between / step), std::max<std::int64_t>(1, dilation / step), 0}};
}

}  // namespace tenfold::passes
