#include "text/transformers/narrow/pack_steps.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "text/fail.h"
#include "text/transformers/narrow/write_floats.h"

namespace tenfold::transformers {
namespace {

// Rounds a group's largest value to a scale in the folder's type, and gives what a reader makes of it.
float scale_of(std::span<const float> group, float range, std::int64_t at, Tensor& scales) {
  float largest = 0;
  for (const float v : group) {
    if (!std::isfinite(v)) tokenizing::fail(ErrorKind::invalid_model, "there are values that are no finite numbers");
    largest = std::max(largest, std::fabs(v));
  }
  const std::uint32_t bits = bits_of(largest / range, scales.dtype());
  if (scales.dtype() == DType::f32)
    scales.mutable_data<std::uint32_t>()[at] = bits;
  else
    scales.mutable_data<std::uint16_t>()[at] = static_cast<std::uint16_t>(bits);
  float scale = 0;
  read_floats(scales, at, 1, 1, &scale);
  return scale;
}

}  // namespace

PackedSteps pack_steps(const Tensor& floats, const NarrowForm& form) {
  const std::int64_t out = floats.shape()[0], in = floats.shape()[1], block = form.block(in), blocks = in / block;
  const std::int64_t of_word = 32 / form.bits, row_words = (in + of_word - 1) / of_word;
  const float half = form.bits == 4 ? 8.0f : 128.0f;
  PackedSteps p{Tensor(DType::i32, {out, row_words}), Tensor(floats.dtype(), {out, blocks}), Tensor(DType::i64, {2})};
  p.shape.mutable_data<std::int64_t>()[0] = out, p.shape.mutable_data<std::int64_t>()[1] = in;
  auto* const words = p.words.mutable_data<std::uint32_t>();
  std::vector<float> row(static_cast<std::size_t>(in));
  double differences = 0, squares = 0;
  for (std::int64_t n = 0; n < out; ++n) {
    read_floats(floats, n * in, 1, in, row.data());
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::span<const float> group(row.data() + b * block, static_cast<std::size_t>(block));
      const float scale = scale_of(group, half - 0.5f, n * blocks + b, p.scales);   // the range has 2 half - 1 steps
      for (std::int64_t i = 0; i < block; ++i) {
        const float v = group[static_cast<std::size_t>(i)];
        const float step = scale == 0 ? 0.0f : std::clamp(std::nearbyint(v / scale), -half, half - 1);
        const std::int64_t k = b * block + i;
        words[n * row_words + k / of_word] |= static_cast<std::uint32_t>(static_cast<int>(step + half)) << (k % of_word * form.bits);
        const double left = static_cast<double>(v) - static_cast<double>(step) * static_cast<double>(scale);
        differences += left * left, squares += static_cast<double>(v) * static_cast<double>(v);
      }
    }
  }
  p.error = squares > 0 ? std::sqrt(differences / squares) : 0;
  return p;
}

}  // namespace tenfold::transformers
