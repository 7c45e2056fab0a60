// Planes lie in a ring of one roi's extent: what a window at plane z needs is there once the planes before z are
// finished.
#include "windows/accumulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/check.h"

namespace tenfold::windows {

namespace {

// Outputs that no cache holds pass the caches by.
constexpr std::int64_t kStreamedBytes = 8 << 20;
// From so many planes on, one of them has work enough for a thread; channels at once, if so.
constexpr std::int64_t kManyPlanes = 32, kChannels = 8;

}  // namespace

Accumulator::Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights)
    : blender_(std::move(axes)), channels_(channels), weights_(std::move(weights)) {
  for (std::size_t a = 1; a < this->axes().size(); ++a) {
    const OutputAxis& axis = this->axes()[a];
    section_ *= axis.padded, window_section_ *= axis.roi;
    windows_of_plane_ *= static_cast<std::int64_t>(axis.starts.size());
  }
}

bool Accumulator::may_sum_in_place(const Finish& how) const {
  return how.plain() && std::all_of(axes().begin(), axes().end(), [](const OutputAxis& axis) {
           return axis.crop_begin == 0 && axis.crop_end == axis.padded;
         });
}

std::vector<Accumulator::Scratch> Accumulator::make_scratch(const Parallel& parallel) const {
  std::vector<Scratch> scratch(static_cast<std::size_t>(parallel.workers()));
  for (Scratch& one : scratch) one.divisors.surely_positive = surely_positive_;
  return scratch;
}

// A plane of the weights of all windows that begin at one plane.
void Accumulator::add_weights(std::int64_t plane, PlaneBlender::Scratch& scratch) {
  const std::vector<float> ones(weights_.empty() ? static_cast<std::size_t>(window_section_) : 0, 1.0f);
  const float* const weights = weights_.empty() ? ones.data() : weights_.data() + plane * window_section_;
  scratch.plane = {{0, 0}};
  blender_.blend({0, windows_of_plane_, 1, 0, reinterpret_cast<const std::byte*>(weights), 0},
                 {weight_sums_.get() + plane * section_, 0, nullptr, false}, scratch);
}

void Accumulator::sum_weights(Parallel& parallel) {
  weight_sums_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(axes()[0].roi * section_));
  std::atomic<bool> positive{true};
  std::vector<Scratch> scratch = make_scratch(parallel);
  parallel.for_each(axes()[0].roi, [&](std::int64_t plane, int worker) {
    add_weights(plane, scratch[static_cast<std::size_t>(worker)].blender);
    if (!blend_kernels().positive(weight_sums_.get() + plane * section_, section_)) positive = false;
  });
  surely_positive_ = positive;
}

// Planes of the padded output that windows touch.
Interval Accumulator::planes_of(const Predictions& windows) const {
  const OutputAxis& axis = axes()[0];
  const std::int64_t first = windows.first / windows_of_plane_,
                     last = (windows.first + windows.count - 1) / windows_of_plane_;
  return {axis.starts[static_cast<std::size_t>(first)] + counted(axis, first).begin,
          axis.starts[static_cast<std::size_t>(last)] + counted(axis, last).end};
}

void Accumulator::add(const Predictions& windows, const float* weights, Parallel& parallel) {
  const std::int64_t roi = axes()[0].roi;
  if (weight_sums_ == nullptr) sum_weights(parallel);
  if (in_place_ == nullptr && ring_ == nullptr)
    sums_ = Tensor(DType::f32, {channels_, roi, section_}), ring_ = sums_.mutable_data<float>();
  const Interval planes = planes_of(windows);
  const std::int64_t count = planes.end - planes.begin, element = byte_size(windows.dtype, 1);
  const ConvertRow convert = windows.dtype == DType::f32 ? nullptr : row_to_f32(windows.dtype);
  const bool in_place = in_place_ != nullptr;
  const std::int64_t channel_stride = (in_place ? axes()[0].padded : roi) * section_, size = roi * window_section_;
  const bool streams = in_place && channels_ * channel_stride * std::int64_t{sizeof(float)} > kStreamedBytes;
  std::vector<Scratch> scratch = make_scratch(parallel);
  // A part is a plane of some channels, which share weights and divisors: whoever has it adds all windows to it, in
  // their order.
  const std::int64_t together = count < kManyPlanes ? 1 : std::min(channels_, kChannels),
                     groups = (channels_ + together - 1) / together;
  parallel.for_each(count * groups, [&](std::int64_t part, int worker) {
    const std::int64_t z = planes.begin + part / groups, channel = part % groups * together;
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    blender_.find_plane(z, own.blender.plane);
    if (in_place) find_maps(own.blender.plane, own.divisors);
    blender_.blend({windows.first, windows.first + windows.count, std::min(together, channels_ - channel), size,
                    windows.values + channel * size * element, channels_ * size * element, element, convert, weights},
                   {sums(channel, z), channel_stride, in_place ? &own.divisors : nullptr, streams}, own.blender);
  });
  for (const Scratch& one : scratch) positive_ = positive_ && one.divisors.positive;
}

void Accumulator::find_maps(const Coverings& plane, Divisors& divisors) const {
  divisors.maps.clear();
  for (const Covering& one : plane) divisors.maps.push_back(weight_sums_.get() + one.row * section_);
}

// One row of voxels, to `to` where it belongs to the image.
void Accumulator::finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to,
                             Scratch& scratch) const {
  const OutputAxis& line = axes().back();
  const std::int64_t count = line.crop_end - line.crop_begin;
  std::int64_t image_row = z - axes()[0].crop_begin - to.first_plane;
  std::array<std::int64_t, 4> at{};
  std::int64_t rest = row;
  for (std::size_t a = axes().size() - 2; a >= 1; --a) at[a] = rest % axes()[a].padded, rest /= axes()[a].padded;
  for (std::size_t a = 1; a + 1 < axes().size(); ++a) {
    if (at[a] < axes()[a].crop_begin || at[a] >= axes()[a].crop_end) return;
    image_row = image_row * (axes()[a].crop_end - axes()[a].crop_begin) + at[a] - axes()[a].crop_begin;
  }
  const std::int64_t from = row * line.padded + line.crop_begin;
  const float* const divisors = scratch.divisors.over(from, count);
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
  begin = std::max(begin, axes()[0].crop_begin), end = std::min(end, axes()[0].crop_end);
  if (in_place_ == nullptr && begin < end) finish_rings(begin, end, how, to, parallel);
  require(positive_, ErrorKind::invalid_argument, kNotPositive);
}

// From the ring.
void Accumulator::finish_rings(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to,
                               Parallel& parallel) {
  const std::int64_t rows = section_ / axes().back().padded;
  constexpr std::int64_t kRowsOfAPart = 64;
  const std::int64_t parts = (rows + kRowsOfAPart - 1) / kRowsOfAPart;
  std::vector<Scratch> scratch = make_scratch(parallel);
  for (Scratch& one : scratch)
    if (!how.plain()) one.row.reserve(channels_, axes().back().crop_end - axes().back().crop_begin);
  parallel.for_each((end - begin) * parts, [&](std::int64_t part, int worker) {
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    const std::int64_t z = begin + part / parts, first = part % parts * kRowsOfAPart;
    blender_.find_plane(z, own.blender.plane);
    find_maps(own.blender.plane, own.divisors);
    for (std::int64_t row = first; row < std::min(rows, first + kRowsOfAPart); ++row)
      finish_row(z, row, how, to, own);
  });
  for (const Scratch& one : scratch) positive_ = positive_ && one.divisors.positive;
}

}  // namespace tenfold::windows
