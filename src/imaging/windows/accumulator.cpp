// Planes lie in a ring of one roi's extent: what a window at plane z needs is there once the planes before z are
// finished.
#include "windows/accumulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/check.h"
#include "windows/row_kernels.h"

namespace tenfold::windows {

Accumulator::Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights)
    : axes_(std::move(axes)), channels_(channels), weights_(std::move(weights)) {
  for (std::size_t a = 1; a < axes_.size(); ++a) section_ *= axes_[a].padded, window_section_ *= axes_[a].roi;
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

std::int64_t Accumulator::last(std::size_t axis, std::size_t index) const {
  const Box own = box(axis, index);
  const std::vector<std::int64_t>& starts = axes_[axis].starts;
  if (index + 1 == starts.size()) return own.end;
  return std::clamp(starts[index + 1] + box(axis, index + 1).begin - starts[index], own.begin, own.end);
}

// A plane of a window onto one of the sums: rows of the last axis, of two axes between at most. Windows before this one
// have covered a voxel if one of them covers it along any axis, since together they cover all of the others. So do
// those after it.
void Accumulator::add_plane(float* sums, const float* values, const float* weights, const std::vector<std::size_t>& at,
                            bool fresh_plane, Divisors* divisors) const {
  const std::size_t inmost = axes_.size() - 1;
  const OutputAxis& line = axes_[inmost];
  const Box x = box(inmost, at[inmost]);
  const std::int64_t count = x.end - x.begin, fresh_x = fresh(inmost, at[inmost]) - x.begin,
                     last_x = last(inmost, at[inmost]) - x.begin;
  const auto add = [&](std::int64_t sums_row, std::int64_t values_row, std::int64_t rows, bool fresh_rows, bool last) {
    const std::int64_t from = values_row * line.roi + x.begin,
                       to = sums_row * line.padded + line.starts[at[inmost]] + x.begin;
    const AddRows some{sums + to, values + from, weights != nullptr ? weights + from : nullptr, line.padded, line.roi,
                       rows, count, fresh_rows ? fresh_x : count, last ? last_x : 0};
    if (!last || last_x == 0) blend_kernels().add(some);
    else add_last_rows(some, to, *divisors);
  };
  const bool last_plane = divisors != nullptr;
  if (inmost == 1) return add(0, 0, 1, fresh_plane, last_plane);
  const Box y = box(inmost - 1, at[inmost - 1]);
  const std::int64_t fresh_y = fresh(inmost - 1, at[inmost - 1]), last_y = last(inmost - 1, at[inmost - 1]);
  const std::int64_t cuts[] = {y.begin, std::min(fresh_y, last_y), std::max(fresh_y, last_y), y.end};
  const OutputAxis& inner = axes_[inmost - 1];
  const Box outer = inmost == 2 ? Box{0, 1} : box(1, at[1]);
  const std::int64_t fresh_outer = inmost == 2 ? 0 : fresh(1, at[1]), last_outer = inmost == 2 ? 1 : last(1, at[1]);
  for (std::int64_t i = outer.begin; i < outer.end; ++i) {
    const std::int64_t section = inmost == 2 ? 0 : (axes_[1].starts[at[1]] + i) * inner.padded;
    const std::int64_t to = section + inner.starts[at[inmost - 1]], from = i * inner.roi;
    for (int part = 0; part < 3; ++part)
      if (cuts[part] < cuts[part + 1])
        add(to + cuts[part], from + cuts[part], cuts[part + 1] - cuts[part],
            fresh_plane && i >= fresh_outer && cuts[part] >= fresh_y,
            last_plane && i < last_outer && cuts[part] < last_y);
  }
}

// Rows whose sums become means; the first lies at `at` of its plane.
void Accumulator::add_last_rows(AddRows rows, std::int64_t at, Divisors& divisors) const {
  const std::vector<const float*>& maps = divisors.maps;
  if (surely_positive_ && maps.size() <= std::size(rows.divisors)) {
    for (std::size_t i = 0; i < maps.size(); ++i) rows.divisors[i] = maps[i] + at;
    return blend_kernels().add(rows);
  }
  for (std::int64_t left = std::exchange(rows.rows, 1); left > 0; --left, at += rows.sums_stride) {
    rows.divisors[0] = divisor_row(at, rows.last, divisors);
    blend_kernels().add(rows);
    rows.sums += rows.sums_stride, rows.values += rows.values_stride;
    if (rows.weights != nullptr) rows.weights += rows.values_stride;
  }
}

// A plane of the weights of all windows that begin at one plane.
void Accumulator::add_weights(std::int64_t plane) {
  const std::vector<float> ones(weights_.empty() ? static_cast<std::size_t>(window_section_) : 0, 1.0f);
  const float* const weights = weights_.empty() ? ones.data() : weights_.data() + plane * window_section_;
  std::vector<std::size_t> at(axes_.size());
  for (std::size_t a = axes_.size(); a > 0;) {   // counts up, the last axis fastest
    add_plane(weight_sums_.mutable_data<float>() + plane * section_, weights, nullptr, at, true, nullptr);
    for (a = axes_.size() - 1; a > 0 && ++at[a] == axes_[a].starts.size(); --a) at[a] = 0;
  }
}

void Accumulator::sum_weights(Parallel& parallel) {
  weight_sums_ = Tensor(DType::f32, {axes_[0].roi, section_});
  std::atomic<bool> positive{true};
  parallel.for_each(axes_[0].roi, [&](std::int64_t plane, int) {
    add_weights(plane);
    if (!blend_kernels().positive(weight_sums_.data<float>() + plane * section_, section_)) positive = false;
  });
  surely_positive_ = positive;
}

void Accumulator::add(std::span<const Prediction> windows, DType dtype, const float* weights, Parallel& parallel) {
  const std::int64_t planes = axes_[0].roi;
  const ConvertRow convert = row_to_f32(dtype);
  const auto size = static_cast<std::size_t>(byte_size(dtype, 1));
  if (!weight_sums_.defined()) sum_weights(parallel);
  if (in_place_ == nullptr && ring_ == nullptr)
    sums_ = Tensor(DType::f32, {channels_, planes, section_}), ring_ = sums_.mutable_data<float>();
  std::vector<Scratch> scratch(static_cast<std::size_t>(parallel.workers()));
  for (Scratch& one : scratch) {
    one.divisors.row.resize(static_cast<std::size_t>(axes_.back().padded));
    if (dtype != DType::f32) one.values.resize(static_cast<std::size_t>(window_section_));
  }
  // A part is a plane of a channel: whoever has it adds all windows to it, in their order. Channels share a plane of
  // weights.
  parallel.for_each(channels_ * planes, [&](std::int64_t part, int worker) {
    const std::int64_t channel = part % channels_, z = part / channels_;
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    for (const Prediction& window : windows) {
      const Box box_z = box(0, window.at[0]);
      if (z < box_z.begin || z >= box_z.end) continue;
      const std::byte* from = window.values + static_cast<std::size_t>((channel * planes + z) * window_section_) * size;
      const float* values = reinterpret_cast<const float*>(from);
      if (dtype != DType::f32) {
        convert(from, own.values.data(), window_section_);
        values = own.values.data();
      }
      const std::int64_t at = axes_[0].starts[window.at[0]] + z;
      const bool last_plane = in_place_ != nullptr && z < last(0, window.at[0]);
      if (last_plane) find_maps(at, own.divisors);
      add_plane(sums(channel, at), values, weights != nullptr ? weights + z * window_section_ : nullptr, window.at,
                z >= fresh(0, window.at[0]), last_plane ? &own.divisors : nullptr);
    }
  });
  for (const Scratch& one : scratch) positive_ = positive_ && one.divisors.positive;
}

void Accumulator::find_maps(std::int64_t z, Divisors& divisors) const {
  divisors.maps.clear();
  const OutputAxis& first = axes_[0];
  auto start = std::upper_bound(first.starts.begin(), first.starts.end(), z - first.roi);
  for (; start != first.starts.end() && *start <= z; ++start) {
    const Box inside = box(0, static_cast<std::size_t>(start - first.starts.begin()));
    const std::int64_t plane = z - *start;
    if (plane >= inside.begin && plane < inside.end)
      divisors.maps.push_back(weight_sums_.data<float>() + plane * section_);
  }
}

// The sums of the weights of all windows over `count` voxels of a row, which begin at `at` of their plane.
const float* Accumulator::divisor_row(std::int64_t at, std::int64_t count, Divisors& divisors) const {
  const float* row = divisors.maps[0] + at;
  for (std::size_t i = 1; i < divisors.maps.size(); ++i) {
    float* const sum = divisors.row.data();
    if (i == 1) std::copy_n(row, count, sum);
    blend_kernels().add({sum, divisors.maps[i] + at, nullptr, count, count, 1, count, count});
    row = sum;
  }
  if (!surely_positive_) divisors.positive &= blend_kernels().positive(row, count);
  return row;
}

// One row of voxels, to `to` where it belongs to the image.
void Accumulator::finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to,
                             Scratch& scratch) const {
  const OutputAxis& line = axes_.back();
  const std::int64_t count = line.crop_end - line.crop_begin;
  std::int64_t image_row = z - axes_[0].crop_begin - to.first_plane;
  std::array<std::int64_t, 4> at{};
  std::int64_t rest = row;
  for (std::size_t a = axes_.size() - 2; a >= 1; --a) at[a] = rest % axes_[a].padded, rest /= axes_[a].padded;
  for (std::size_t a = 1; a + 1 < axes_.size(); ++a) {
    if (at[a] < axes_[a].crop_begin || at[a] >= axes_[a].crop_end) return;
    image_row = image_row * (axes_[a].crop_end - axes_[a].crop_begin) + at[a] - axes_[a].crop_begin;
  }
  const std::int64_t from = row * line.padded + line.crop_begin;
  const float* const divisors = divisor_row(from, count, scratch.divisors);
  for (std::int64_t c = 0; c < channels_; ++c) {
    float* const target = how.plain() ? reinterpret_cast<float*>(to.data) + c * to.channel_stride + image_row * count
                                      : scratch.row.means.data() + c * count;
    blend_kernels().divide(sums(c, z) + from, divisors, target, count);
  }
  if (!how.plain())
    finish_rows(how, scratch.row, channels_, count, to.data + image_row * count * byte_size(how.dtype(channels_), 1),
                to.channel_stride);
}

void Accumulator::finish(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to,
                         Parallel& parallel) {
  begin = std::max(begin, axes_[0].crop_begin), end = std::min(end, axes_[0].crop_end);
  if (in_place_ == nullptr && begin < end) finish_rings(begin, end, how, to, parallel);
  require(positive_, ErrorKind::invalid_argument, kNotPositive);
}

// From the ring.
void Accumulator::finish_rings(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to,
                               Parallel& parallel) {
  const std::int64_t rows = section_ / axes_.back().padded;
  constexpr std::int64_t kRowsOfAPart = 64;
  const std::int64_t parts = (rows + kRowsOfAPart - 1) / kRowsOfAPart;
  std::vector<Scratch> scratch(static_cast<std::size_t>(parallel.workers()));
  for (Scratch& one : scratch) {
    one.divisors.row.resize(static_cast<std::size_t>(axes_.back().padded));
    if (!how.plain()) one.row.reserve(channels_, axes_.back().crop_end - axes_.back().crop_begin);
  }
  parallel.for_each((end - begin) * parts, [&](std::int64_t part, int worker) {
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    const std::int64_t z = begin + part / parts, first = part % parts * kRowsOfAPart;
    find_maps(z, own.divisors);
    for (std::int64_t row = first; row < std::min(rows, first + kRowsOfAPart); ++row)
      finish_row(z, row, how, to, own);
  });
  for (const Scratch& one : scratch) positive_ = positive_ && one.divisors.positive;
}

}  // namespace tenfold::windows
