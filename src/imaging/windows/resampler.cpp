// Rows get the grid's width as soon as their plane is there, so that each gather is done once; then planes and rows are
// mixed in whole vectors, and labels are found without the mixed values being stored.
#include "windows/resampler.h"

#include <algorithm>

#include "windows/resample_kernels.h"

namespace tenfold::windows {
namespace {

constexpr std::int64_t kRowsOfAPart = 32;

std::int64_t source_rows(const std::vector<ResampleAxis>& axes) { return axes[1].from * axes[2].from; }

}  // namespace

Resampler::Resampler(std::vector<ResampleAxis> axes, std::int64_t channels)
    : axes_(four_resample_axes(std::move(axes))),
      channels_(channels),
      section_(source_rows(axes_) * axes_[3].from),
      width_(axes_[3].extent()),
      wide_section_(source_rows(axes_) * width_) {
  plane_.resize(static_cast<std::size_t>(channels_ * section_));
  for (std::vector<float>& plane : wide_) plane.resize(static_cast<std::size_t>(channels_ * wide_section_));
}

std::int64_t Resampler::memory(const std::vector<ResampleAxis>& given, std::int64_t channels) {
  const std::vector<ResampleAxis> axes = four_resample_axes(given);
  return 4 * channels * source_rows(axes) * (axes[3].from + 2 * axes[3].extent());
}

std::int64_t Resampler::add_plane(std::int64_t z, Parallel& parallel) {
  const ResampleAxis& line = axes_[3];
  float* const to = wide_[static_cast<std::size_t>(z % 2)].data();
  const std::int64_t rows = channels_ * source_rows(axes_), parts = (rows + kRowsOfAPart - 1) / kRowsOfAPart;
  parallel.for_each(parts, [&](std::int64_t part, int) {
    for (std::int64_t row = part * kRowsOfAPart; row < std::min(rows, (part + 1) * kRowsOfAPart); ++row) {
      const float* const from = plane_.data() + row * line.from;
      if (line.copies)
        for (std::int64_t i = 0; i < width_; ++i) to[row * width_ + i] = from[line.first[static_cast<std::size_t>(i)]];
      else
        resample_kernels().gather(from, line.first.data(), line.second.data(), line.weight.data(), to + row * width_,
                                  width_);
    }
  });
  return ready_planes(axes_[0], next_, z);
}

void Resampler::mix_rows(Rows first, Rows second, float weight, float* to) const {
  for (std::int64_t c = 0; c < channels_; ++c)
    resample_kernels().mix(first.data + c * first.stride, second.data + c * second.stride, weight, to + c * width_,
                           width_);
}

// A row of the source's planes, counted over both of its axes, for a plane of the grid.
Resampler::Rows Resampler::mix_planes(std::int64_t plane, std::int64_t row, std::vector<float>& memory) const {
  const auto z = static_cast<std::size_t>(plane);
  const Rows first{source(axes_[0].first[z]) + row * width_, wide_section_};
  if (axes_[0].weight[z] == 0) return first;
  memory.resize(static_cast<std::size_t>(channels_ * width_));
  mix_rows(first, {source(axes_[0].second[z]) + row * width_, wide_section_}, axes_[0].weight[z], memory.data());
  return {memory.data(), width_};
}

// Row `y` of the source for a plane of the grid and an index of its outer axis. It stays in its slot for the next row.
Resampler::Rows Resampler::row(std::int64_t plane, std::int64_t outer, std::int64_t y, Scratch& scratch,
                               std::size_t slot) const {
  const auto o = static_cast<std::size_t>(outer);
  const ResampleAxis& axis = axes_[1];
  std::vector<float>& memory = scratch.rows[slot];
  const std::int64_t first_row = axis.first[o] * axes_[2].from + y, second_row = axis.second[o] * axes_[2].from + y;
  if (axis.weight[o] == 0) return mix_planes(plane, first_row, memory);
  const Rows first = mix_planes(plane, first_row, scratch.outer[0]),
             second = mix_planes(plane, second_row, scratch.outer[1]);
  memory.resize(static_cast<std::size_t>(channels_ * width_));
  mix_rows(first, second, axis.weight[o], memory.data());
  return {memory.data(), width_};
}

void Resampler::finish_row(const Finish& how, Rows first, Rows second, float weight, std::byte* to, std::int64_t stride,
                           Scratch& scratch) const {
  if (how.activation == OutputActivation::none && how.reduction == OutputReduction::argmax) {
    const MixedRows rows{first.data, weight == 0 ? first.data : second.data, weight, channels_, first.stride, width_};
    if (how.dtype(channels_) == DType::u8) resample_kernels().argmax_u8(rows, reinterpret_cast<std::uint8_t*>(to));
    else resample_kernels().argmax_u16(rows, reinterpret_cast<std::uint16_t*>(to));
    return;
  }
  scratch.values.reserve(channels_, width_);
  float* const means = scratch.values.means.data();
  if (weight != 0) mix_rows(first, second, weight, means);
  else
    for (std::int64_t c = 0; c < channels_; ++c) std::copy_n(first.data + c * first.stride, width_, means + c * width_);
  finish_rows(how, scratch.values, channels_, width_, to, stride);
}

void Resampler::finish(std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel) {
  const ResampleAxis& vertical = axes_[2];
  const std::int64_t outers = axes_[1].extent(), rows = vertical.extent(), first_plane = next_;
  const std::int64_t parts = (rows + kRowsOfAPart - 1) / kRowsOfAPart;
  std::vector<Scratch> scratch(static_cast<std::size_t>(parallel.workers()));
  const std::int64_t row_bytes = width_ * byte_size(how.dtype(channels_), 1);
  parallel.for_each((end - first_plane) * outers * parts, [&](std::int64_t number, int worker) {
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    own.at = {-1, -1};
    const std::int64_t part = number % parts, outer = number / parts % outers,
                       plane = first_plane + number / parts / outers;
    std::array<Rows, 2> kept{};
    const auto need = [&](std::int64_t y) {   // neighbors have slots of their own
      const auto slot = static_cast<std::size_t>(y % 2);
      if (own.at[slot] != y) kept[slot] = row(plane, outer, y, own, slot), own.at[slot] = y;
      return kept[slot];
    };
    for (std::int64_t y = part * kRowsOfAPart; y < std::min(rows, (part + 1) * kRowsOfAPart); ++y) {
      const auto at = static_cast<std::size_t>(y);
      const float weight = vertical.weight[at];
      const Rows first = need(vertical.first[at]), second = weight == 0 ? first : need(vertical.second[at]);
      const std::int64_t place = ((plane - to.first_plane) * outers + outer) * rows + y;
      finish_row(how, first, second, weight, to.data + place * row_bytes, to.channel_stride, own);
    }
  });
  next_ = end;
}

}  // namespace tenfold::windows
