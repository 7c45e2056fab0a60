// Planes lie in a ring of one roi's extent: what a window at plane z needs is there once the planes before z are
// finished.
#include "windows/accumulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "base/check.h"
#include "windows/blend_kernels.h"
#include "windows/row_kernels.h"

namespace tenfold::windows {

Accumulator::Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights)
    : axes_(std::move(axes)), channels_(channels), weights_(std::move(weights)) {
  for (std::size_t a = 1; a < axes_.size(); ++a) section_ *= axes_[a].padded, window_section_ *= axes_[a].roi;
  weight_sums_ = Tensor(DType::f32, {axes_[0].roi, section_});
}

bool Accumulator::may_sum_in_place(const Finish& how) const {
  return how.plain() && std::all_of(axes_.begin(), axes_.end(), [](const OutputAxis& axis) {
           return axis.crop_begin == 0 && axis.crop_end == axis.padded;
         });
}

// A window's halo counts where it touches the image's border.
Accumulator::Box Accumulator::box(std::size_t axis, std::size_t index) const {
  const OutputAxis& a = axes_[axis];
  const bool first = index == 0, last = index + 1 == a.starts.size();
  return {first ? 0 : a.halo, a.roi - (last ? 0 : a.halo)};
}

std::int64_t Accumulator::fresh(std::size_t axis, std::size_t index) const {
  const Box own = box(axis, index);
  if (index == 0) return own.begin;
  const std::vector<std::int64_t>& starts = axes_[axis].starts;
  return std::clamp(starts[index - 1] + box(axis, index - 1).end - starts[index], own.begin, own.end);
}

// A plane of a window onto one of the sums: rows of the last axis, of two axes between at most. Windows before this one
// have covered a voxel if one of them covers it along any axis, since together they cover all of the others.
void Accumulator::add_plane(float* sums, const float* values, const float* weights, const std::vector<std::size_t>& at,
                            bool fresh_plane) const {
  const std::size_t last = axes_.size() - 1;
  const OutputAxis& line = axes_[last];
  const Box x = box(last, at[last]);
  const std::int64_t count = x.end - x.begin, fresh_x = fresh(last, at[last]) - x.begin;
  const auto add = [&](std::int64_t sums_row, std::int64_t values_row, std::int64_t rows, bool fresh_rows) {
    const std::int64_t from = values_row * line.roi + x.begin;
    blend_kernels().add({sums + sums_row * line.padded + line.starts[at[last]] + x.begin, values + from,
                         weights != nullptr ? weights + from : nullptr, line.padded, line.roi, rows, count,
                         fresh_rows ? fresh_x : count});
  };
  if (last == 1) return add(0, 0, 1, fresh_plane);
  const Box y = box(last - 1, at[last - 1]);
  const std::int64_t fresh_y = fresh(last - 1, at[last - 1]);
  const OutputAxis& inner = axes_[last - 1];
  const Box outer = last == 2 ? Box{0, 1} : box(1, at[1]);
  const std::int64_t fresh_outer = last == 2 ? 0 : fresh(1, at[1]);
  for (std::int64_t i = outer.begin; i < outer.end; ++i) {
    const std::int64_t section = last == 2 ? 0 : (axes_[1].starts[at[1]] + i) * inner.padded;
    const std::int64_t to = section + inner.starts[at[last - 1]], from = i * inner.roi;
    add(to + y.begin, from + y.begin, fresh_y - y.begin, false);
    add(to + fresh_y, from + fresh_y, y.end - fresh_y, fresh_plane && i >= fresh_outer);
  }
}

// A plane of the weights of all windows that begin at one plane.
void Accumulator::add_weights(std::int64_t plane) {
  const std::vector<float> ones(weights_.empty() ? static_cast<std::size_t>(window_section_) : 0, 1.0f);
  const float* const weights = weights_.empty() ? ones.data() : weights_.data() + plane * window_section_;
  std::vector<std::size_t> at(axes_.size());
  for (std::size_t a = axes_.size(); a > 0;) {   // counts up, the last axis fastest
    add_plane(weight_sums_.mutable_data<float>() + plane * section_, weights, nullptr, at, true);
    for (a = axes_.size() - 1; a > 0 && ++at[a] == axes_[a].starts.size(); --a) at[a] = 0;
  }
}

void Accumulator::add(std::span<const Prediction> windows, DType dtype, const float* weights, Parallel& parallel) {
  const std::int64_t planes = axes_[0].roi;
  const ConvertRow convert = row_to_f32(dtype);
  const auto size = static_cast<std::size_t>(byte_size(dtype, 1));
  if (!weighed_) parallel.for_each(planes, [&](std::int64_t plane, int) { add_weights(plane); });
  weighed_ = true;
  if (in_place_ == nullptr && !sums_.defined()) sums_ = Tensor(DType::f32, {channels_, planes, section_});
  std::vector<std::vector<float>> scratch(static_cast<std::size_t>(dtype == DType::f32 ? 0 : parallel.workers()));
  for (std::vector<float>& one : scratch) one.resize(static_cast<std::size_t>(window_section_));
  // A part is a plane of a channel: whoever has it adds all windows to it, in their order. Channels share a plane of
  // weights.
  parallel.for_each(channels_ * planes, [&](std::int64_t part, int worker) {
    const std::int64_t channel = part % channels_, z = part / channels_;
    for (const Prediction& window : windows) {
      const Box box_z = box(0, window.at[0]);
      if (z < box_z.begin || z >= box_z.end) continue;
      const std::byte* from = window.values + static_cast<std::size_t>((channel * planes + z) * window_section_) * size;
      const float* values = reinterpret_cast<const float*>(from);
      if (dtype != DType::f32) {
        std::vector<float>& row = scratch[static_cast<std::size_t>(worker)];
        convert(from, row.data(), window_section_);
        values = row.data();
      }
      const std::int64_t at = axes_[0].starts[window.at[0]] + z;
      add_plane(sums(channel, at), values, weights != nullptr ? weights + z * window_section_ : nullptr, window.at,
                z >= fresh(0, window.at[0]));
    }
  });
}

// The sums of the weights of all windows over one row.
const float* Accumulator::divisor_row(std::int64_t z, std::int64_t row, std::vector<float>& scratch) const {
  const OutputAxis& first = axes_[0];
  const std::int64_t line = axes_.back().padded;
  const float* only = nullptr;
  auto start = std::upper_bound(first.starts.begin(), first.starts.end(), z - first.roi);
  for (; start != first.starts.end() && *start <= z; ++start) {
    const auto i = static_cast<std::size_t>(start - first.starts.begin());
    const Box inside = box(0, i);
    const std::int64_t plane = z - *start;
    if (plane < inside.begin || plane >= inside.end) continue;
    const float* const more = weight_sums_.data<float>() + plane * section_ + row * line;
    if (only == nullptr) {
      only = more;
      continue;
    }
    if (only != scratch.data()) std::copy_n(only, line, scratch.data());
    only = scratch.data();
    blend_kernels().add({scratch.data(), more, nullptr, line, line, 1, line, line});
  }
  return only;
}

// One row of voxels, to `to` where it belongs to the image. Gives the least divisor of its voxels.
float Accumulator::finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to,
                              Scratch& scratch) {
  const OutputAxis& line = axes_.back();
  const std::int64_t count = line.crop_end - line.crop_begin;
  std::int64_t image_row = z - axes_[0].crop_begin - to.first_plane;
  bool inside = z >= axes_[0].crop_begin && z < axes_[0].crop_end;
  std::array<std::int64_t, 4> at{};
  std::int64_t rest = row;
  for (std::size_t a = axes_.size() - 2; a >= 1; --a) at[a] = rest % axes_[a].padded, rest /= axes_[a].padded;
  for (std::size_t a = 1; a + 1 < axes_.size(); ++a) {
    inside = inside && at[a] >= axes_[a].crop_begin && at[a] < axes_[a].crop_end;
    image_row = image_row * (axes_[a].crop_end - axes_[a].crop_begin) + at[a] - axes_[a].crop_begin;
  }
  const float* const divisors = inside ? divisor_row(z, row, scratch.divisors) : nullptr;
  if (inside && divisors == nullptr) return 0;
  float least = 1;
  for (std::int64_t c = 0; inside && c < channels_; ++c) {
    const std::int64_t size = how.plain() ? 4 : 0;
    float* const target = how.plain()
                              ? reinterpret_cast<float*>(to.data + (c * to.channel_stride + image_row * count) * size)
                              : scratch.means.data() + c * count;
    const float* const from = sums(c, z) + row * line.padded + line.crop_begin;
    least = blend_kernels().divide(from, divisors + line.crop_begin, target, count);
  }
  if (inside && !how.plain())
    finish_rows(how, scratch.means, channels_, count, to.data + image_row * count * byte_size(how.dtype(channels_), 1),
                to.channel_stride);
  return least;
}

void Accumulator::finish(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to,
                         Parallel& parallel) {
  const std::int64_t rows = section_ / axes_.back().padded;
  constexpr std::int64_t kRowsOfAPart = 64;
  const std::int64_t parts = (rows + kRowsOfAPart - 1) / kRowsOfAPart;
  std::vector<Scratch> scratch(static_cast<std::size_t>(parallel.workers()));
  for (Scratch& one : scratch) {
    one.divisors.resize(static_cast<std::size_t>(axes_.back().padded));
    if (!how.plain())
      one.means.resize(static_cast<std::size_t>(channels_ * (axes_.back().crop_end - axes_.back().crop_begin)));
  }
  std::atomic<bool> zero{false};
  parallel.for_each((end - begin) * parts, [&](std::int64_t part, int worker) {
    const std::int64_t first = part % parts * kRowsOfAPart;
    for (std::int64_t row = first; row < std::min(rows, first + kRowsOfAPart); ++row)
      if (!(finish_row(begin + part / parts, row, how, to, scratch[static_cast<std::size_t>(worker)]) > 0)) zero = true;
  });
  require(!zero, ErrorKind::invalid_argument,
          "weights: those of all windows that cover a voxel sum to zero, or one is not a number; "
          "expected a positive sum everywhere");
}

}  // namespace tenfold::windows
