// Activations and reductions over a row of voxels of all channels.
#include "windows/finish.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace tenfold::windows {
namespace {

constexpr std::int64_t kMaxChannelsOfU8 = 256, kMaxChannelsOfU16 = 65536;

void sigmoid(std::vector<float>& values) {
  for (float& v : values) v = 1 / (1 + std::exp(-v));
}

// The largest value over channels is taken off first, so that no exponential overflows.
void softmax(float* values, std::int64_t channels, std::int64_t count) {
  std::vector<float> largest(static_cast<std::size_t>(count), -std::numeric_limits<float>::infinity());
  std::vector<float> sums(static_cast<std::size_t>(count));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i)
      largest[static_cast<std::size_t>(i)] = std::fmax(largest[static_cast<std::size_t>(i)], values[c * count + i]);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i) {
      float& v = values[c * count + i];
      v = std::exp(v - largest[static_cast<std::size_t>(i)]);
      sums[static_cast<std::size_t>(i)] += v;
    }
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i) values[c * count + i] /= sums[static_cast<std::size_t>(i)];
}

// NaN is the largest of all, as in NumPy and torch.
template <class Label>
void argmax(const float* values, std::int64_t channels, std::int64_t count, std::byte* to) {
  Label* const labels = reinterpret_cast<Label*>(to);
  std::vector<float> best(values, values + count);
  for (std::int64_t i = 0; i < count; ++i) labels[i] = 0;
  for (std::int64_t c = 1; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i) {
      float& known = best[static_cast<std::size_t>(i)];
      const float v = values[c * count + i];
      if (v > known || (std::isnan(v) && !std::isnan(known))) known = v, labels[i] = static_cast<Label>(c);
    }
}

}  // namespace

DType Finish::dtype(std::int64_t channels) const {
  if (reduction == OutputReduction::none) return DType::f32;
  if (reduction == OutputReduction::threshold || channels <= kMaxChannelsOfU8) return DType::u8;
  require(channels <= kMaxChannelsOfU16, ErrorKind::invalid_argument, "argmax over ", channels,
          " channels: expected at most ", kMaxChannelsOfU16);
  return DType::u16;
}

void finish_rows(const Finish& how, std::vector<float>& values, std::int64_t channels, std::int64_t count,
                 std::byte* to, std::int64_t stride) {
  if (how.activation == OutputActivation::sigmoid) sigmoid(values);
  if (how.activation == OutputActivation::softmax) softmax(values.data(), channels, count);
  if (how.reduction == OutputReduction::argmax) {
    if (how.dtype(channels) == DType::u8) return argmax<std::uint8_t>(values.data(), channels, count, to);
    return argmax<std::uint16_t>(values.data(), channels, count, to);
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const float* const from = values.data() + c * count;
    if (how.reduction == OutputReduction::none) {
      std::memcpy(to + c * stride * static_cast<std::int64_t>(sizeof(float)), from,
                  static_cast<std::size_t>(count) * sizeof(float));
    } else {
      std::uint8_t* const labels = reinterpret_cast<std::uint8_t*>(to) + c * stride;
      for (std::int64_t i = 0; i < count; ++i) labels[i] = from[i] >= how.threshold ? 1 : 0;
    }
  }
}

}  // namespace tenfold::windows
