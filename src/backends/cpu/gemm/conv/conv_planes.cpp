// Laying an image out in planes: transposes where it is channels-last, zeros where the windows reach over its edges.
#include "backends/cpu/gemm/conv/conv_planes.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

std::int64_t reach(const ConvShape& s, std::size_t d) { return (s.kernel[d] - 1) * s.dilation[d]; }

}  // namespace

ConvPlanes::ConvPlanes(const ConvShape& s, std::int64_t lines, std::int64_t columns) : shape_(s) {
  for (const std::size_t d : {1u, 2u})
    for (std::int64_t k = 0; k < s.kernel[d]; ++k) {
      const std::int64_t phase = k * s.dilation[d] % s.stride[d];
      if (std::find(phases_[d].begin(), phases_[d].end(), phase) == phases_[d].end()) phases_[d].push_back(phase);
    }
  rows_ = lines + reach(s, 1) / s.stride[1];
  pitch_ = columns + reach(s, 2) / s.stride[2];
  plane_ = rows_ * pitch_;
  depth_plane_ = plane_ * static_cast<std::int64_t>(phases_[1].size() * phases_[2].size());
  channel_ = depth_plane_ * s.kernel[0];
}

std::int64_t ConvPlanes::floats() const { return channel_ * shape_.channels; }

std::vector<std::int64_t> ConvPlanes::taps(std::int64_t first_channel, std::int64_t channels) const {
  const ConvShape& s = shape_;
  const auto phase_of = [&](std::size_t d, std::int64_t k) {
    return static_cast<std::size_t>(std::find(phases_[d].begin(), phases_[d].end(), k * s.dilation[d] % s.stride[d]) - phases_[d].begin());
  };
  std::vector<std::int64_t> all;
  for (std::int64_t c = first_channel; c < first_channel + channels; ++c)
    for (std::int64_t z = 0; z < s.kernel[0]; ++z)
      for (std::int64_t y = 0; y < s.kernel[1]; ++y)
        for (std::int64_t x = 0; x < s.kernel[2]; ++x)
          all.push_back(c * channel_ + z * depth_plane_ + of_phase(phase_of(1, y), phase_of(2, x)) +
                        y * s.dilation[1] / s.stride[1] * pitch_ + x * s.dilation[2] / s.stride[2]);
  return all;
}

// One line of one phase in all channels, whose first position is `x` of the line `from`; null: it lies outside.
void ConvPlanes::line(const ConvExtents& e, const float* from, std::int64_t channel_stride, std::int64_t x, const MoveKernels& move,
                      float* to) const noexcept {
  const std::int64_t stride = shape_.stride[2], step = stride * e.x_stride[2], channels = shape_.channels;
  std::int64_t first = 0, last = 0;   // positions that exist
  if (from) {
    first = x < 0 ? std::min(ceil_div(-x, stride), pitch_) : 0;
    last = x >= e.in[2] ? first : std::clamp((e.in[2] - 1 - x) / stride + 1, first, pitch_);
  }
  if (first > 0 || last < pitch_)
    for (std::int64_t c = 0; c < channels; ++c) {
      std::memset(to + c * channel_, 0, static_cast<std::size_t>(first) * 4);
      std::memset(to + c * channel_ + last, 0, static_cast<std::size_t>(pitch_ - last) * 4);
    }
  if (first == last) return;
  from += (x + first * stride) * e.x_stride[2];
  to += first;
  if (channel_stride == 1 && channels > 1) return move.transpose[2](to, channel_, from, step, last - first, channels);
  for (std::int64_t c = 0; c < channels; ++c) {
    if (step == 1)
      std::memcpy(to + c * channel_, from + c * channel_stride, static_cast<std::size_t>(last - first) * 4);
    else
      move.copy_strided[2](to + c * channel_, 1, from + c * channel_stride, step, last - first);
  }
}

void ConvPlanes::fill(const ConvExtents& e, const float* image, std::int64_t channel_stride, const Three& at, const MoveKernels& move,
                      float* to) const noexcept {
  const ConvShape& s = shape_;
  for (std::int64_t k = 0; k < s.kernel[0]; ++k) {
    const std::int64_t z = at[0] * s.stride[0] + k * s.dilation[0] - s.begin[0];
    for (std::size_t py = 0; py < phases_[1].size(); ++py)
      for (std::int64_t row = 0; row < rows_; ++row) {
        const std::int64_t y = (at[1] + row) * s.stride[1] + phases_[1][py] - s.begin[1];
        const bool exists = z >= 0 && z < e.in[0] && y >= 0 && y < e.in[1];
        const float* const from = exists ? image + z * e.x_stride[0] + y * e.x_stride[1] : nullptr;
        for (std::size_t px = 0; px < phases_[2].size(); ++px)
          line(e, from, channel_stride, at[2] * s.stride[2] + phases_[2][px] - s.begin[2], move,
               to + k * depth_plane_ + of_phase(py, px) + row * pitch_);
      }
  }
}

}  // namespace tenfold::backends::cpu
