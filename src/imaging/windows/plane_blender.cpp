// A row falls into stretches that the same windows cover; rows that the same windows cover have the same stretches.
#include "windows/plane_blender.h"

#include <algorithm>
#include <utility>

namespace tenfold::windows {
namespace {

// Rows at once where they are converted, or where their divisors are summed up: what is in the first two caches.
constexpr std::int64_t kRows = 16;

const Cover& cover_at(const std::vector<Cover>& covers, std::int64_t at) {
  return *std::partition_point(covers.begin(), covers.end(), [&](const Cover& cover) { return cover.end <= at; });
}

}  // namespace

PlaneBlender::PlaneBlender(std::vector<OutputAxis> axes) : axes_(std::move(axes)) {
  for (const OutputAxis& axis : axes_) covers_.push_back(covers(axis));
}

void PlaneBlender::extend(const Coverings& from, std::size_t axis, std::int64_t at, Coverings& to) const {
  const OutputAxis& a = axes_[axis];
  const Cover& cover = cover_at(covers_[axis], at);
  to.clear();
  for (const Covering& one : from)
    for (std::int64_t w = cover.first; w <= cover.last; ++w)
      to.push_back({one.window * static_cast<std::int64_t>(a.starts.size()) + w,
                    one.row * a.roi + at - a.starts[static_cast<std::size_t>(w)]});
}

void PlaneBlender::blend(const WindowValues& windows, const Plane& plane, Scratch& scratch) const {
  if (axes_.size() == 2) return blend_rows(windows, plane, scratch.plane, 0, 1, scratch);
  if (axes_.size() == 3) return blend_section(windows, plane, scratch.plane, 0, scratch);
  for (std::int64_t i = 0; i < axes_[1].padded; ++i) {
    extend(scratch.plane, 1, i, scratch.section);
    blend_section(windows, plane, scratch.section, i * axes_[2].padded, scratch);
  }
}

// Rows along the last axis but one; the first is the plane's `row`.
void PlaneBlender::blend_section(const WindowValues& windows, const Plane& plane, const Coverings& section,
                                 std::int64_t row, Scratch& scratch) const {
  const std::size_t axis = axes_.size() - 2;
  const bool direct = windows.convert == nullptr &&
                      (plane.divisors == nullptr || (plane.divisors->surely_positive && plane.divisors->maps.size() <= 2));
  for (const Cover& cover : covers_[axis]) {
    const std::int64_t step = direct ? cover.end - cover.begin : kRows;
    for (std::int64_t y = cover.begin; y < cover.end; y += step) {
      extend(section, axis, y, scratch.rows);
      blend_rows(windows, plane, scratch.rows, row + y, std::min(step, cover.end - y), scratch);
    }
  }
}

// Where each window's rows begin, as f32, of the first channel: of `at` and all windows along the last axis, null where
// they are not of this call. Those of other types become [channel, row, voxel].
void PlaneBlender::find_windows(const WindowValues& windows, const Coverings& at, std::int64_t rows,
                                Scratch& scratch) const {
  const OutputAxis& line = axes_.back();
  const auto along = static_cast<std::int64_t>(line.starts.size()), count = static_cast<std::int64_t>(at.size()) * along;
  const std::int64_t size = windows.channels * rows * line.roi;
  scratch.windows.assign(static_cast<std::size_t>(count), nullptr);
  if (windows.convert != nullptr) scratch.values.resize(static_cast<std::size_t>(count * size));
  for (std::int64_t i = 0; i < count; ++i) {
    const Covering& one = at[static_cast<std::size_t>(i / along)];
    const std::int64_t window = one.window * along + i % along;
    if (window < windows.first || window >= windows.end) continue;
    const std::byte* const from = windows.values + (window - windows.first) * windows.window_bytes +
                                  one.row * line.roi * windows.element_bytes;
    scratch.windows[static_cast<std::size_t>(i)] =
        windows.convert == nullptr ? reinterpret_cast<const float*>(from)
                                   : converted(windows, from, rows, scratch.values.data() + i * size);
  }
}

const float* PlaneBlender::converted(const WindowValues& windows, const std::byte* from, std::int64_t rows,
                                     float* to) const {
  const std::int64_t count = rows * axes_.back().roi;
  for (std::int64_t c = 0; c < windows.channels; ++c)
    windows.convert(from + c * windows.channel_size * windows.element_bytes, to + c * count, count);
  return to;
}

// Whether every voxel of the row is the last.
bool PlaneBlender::find_stretches(const WindowValues& windows, const Coverings& at, bool means,
                                  Scratch& scratch) const {
  const OutputAxis& line = axes_.back();
  const auto along = static_cast<std::int64_t>(line.starts.size());
  scratch.stretches.clear(), scratch.terms.clear();
  bool whole = true;
  for (const Cover& x : covers_.back()) {
    BlendStretch stretch{x.begin, x.end - x.begin, static_cast<std::int64_t>(scratch.terms.size()), 0,
                         at.front().window * along + x.first >= windows.first,
                         means && at.back().window * along + x.last < windows.end};
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::int64_t w = x.first; w <= x.last; ++w) {
        const float* const values = scratch.windows[i * static_cast<std::size_t>(along) + static_cast<std::size_t>(w)];
        if (values == nullptr) continue;
        const std::int64_t from = x.begin - line.starts[static_cast<std::size_t>(w)];
        scratch.terms.push_back(
            {values + from, windows.weights != nullptr ? windows.weights + at[i].row * line.roi + from : nullptr});
      }
    stretch.terms = static_cast<std::int64_t>(scratch.terms.size()) - stretch.first_term;
    if (stretch.terms > 0) scratch.stretches.push_back(stretch);
    whole = whole && stretch.terms > 0 && stretch.last;
  }
  return whole;
}

void PlaneBlender::blend_rows(const WindowValues& windows, const Plane& plane, const Coverings& at, std::int64_t row,
                              std::int64_t rows, Scratch& scratch) const {
  const OutputAxis& line = axes_.back();
  find_windows(windows, at, rows, scratch);
  const bool whole = find_stretches(windows, at, plane.divisors != nullptr, scratch);
  if (scratch.stretches.empty()) return;
  BlendRows blend{plane.sums + row * line.padded, rows, line.padded, line.roi, windows.channels, plane.channel_stride,
                  windows.convert == nullptr ? windows.channel_size : rows * line.roi, scratch.stretches,
                  scratch.terms.data()};
  const auto last = [](const BlendStretch& stretch) { return stretch.last; };
  if (plane.divisors != nullptr && std::any_of(scratch.stretches.begin(), scratch.stretches.end(), last)) {
    const std::vector<const float*>& maps = plane.divisors->maps;
    if (plane.divisors->surely_positive && maps.size() <= std::size(blend.divisors))
      for (std::size_t i = 0; i < maps.size(); ++i) blend.divisors[i] = maps[i] + row * line.padded;
    else
      blend.divisors[0] = plane.divisors->over(row * line.padded, rows * line.padded);
  }
  if (plane.streams && whole) {
    scratch.finished.resize(static_cast<std::size_t>(line.padded));
    blend.scratch = scratch.finished.data();
  }
  blend_kernels().blend(blend);
}

}  // namespace tenfold::windows
