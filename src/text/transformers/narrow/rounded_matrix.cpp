#include "text/transformers/narrow/rounded_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "text/fail.h"
#include "text/transformers/narrow/write_floats.h"

namespace tenfold::transformers {
namespace {

// What a reader makes of it.
float written(float scale, DType type) {
  if (type == DType::f32) return scale;
  Tensor one(type, {1});
  *one.mutable_data<std::uint16_t>() = static_cast<std::uint16_t>(bits_of(scale, type));
  read_floats(one, 0, 1, 1, &scale);
  return scale;
}

}  // namespace

float RoundedMatrix::at(std::int64_t output, std::int64_t input) const {
  const std::uint8_t value = values[static_cast<std::size_t>(output * in + input)];
  const float step = fp4 != Fp4::none ? e2m1_value(value) : static_cast<float>(static_cast<int>(value) - (1 << (bits - 1)));
  return step * scales[static_cast<std::size_t>(output * blocks() + input / block)];
}

std::vector<float> matrix_of(const Tensor& floats, const LinearLayer& layer) {
  std::vector<float> matrix(static_cast<std::size_t>(layer.in * layer.out));
  for (std::int64_t n = 0; n < layer.out; ++n)
    read_floats(floats, layer.by_input ? n : n * layer.in, layer.by_input ? layer.out : 1, layer.in, matrix.data() + n * layer.in);
  for (const float v : matrix)
    if (!std::isfinite(v))
      tokenizing::fail(ErrorKind::invalid_model, "the tensor '" + layer.name + ".weight': there are values that are no finite numbers");
  return matrix;
}

RoundedMatrix round_to_range(const std::vector<float>& matrix, const LinearLayer& layer, const NarrowForm& form, DType scale_type) {
  if (form.fp4 != Fp4::none) return round_to_fp4(matrix, layer, form);
  RoundedMatrix r{.bits = form.bits, .in = layer.in, .out = layer.out, .block = form.block(layer.in), .scale_type = scale_type,
                  .values = std::vector<std::uint8_t>(matrix.size()), .scales = {}};
  const float half = form.bits == 4 ? 8.0f : 128.0f;
  for (std::size_t first = 0; first < matrix.size(); first += static_cast<std::size_t>(r.block)) {
    const std::span<const float> group(matrix.data() + first, static_cast<std::size_t>(r.block));
    float largest = 0;
    for (const float v : group) largest = std::max(largest, std::fabs(v));
    const float scale = written(largest / (half - 0.5f), scale_type);   // the range has 2 half - 1 steps
    r.scales.push_back(scale);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const float step = scale == 0 ? 0.0f : std::clamp(std::nearbyint(group[i] / scale), -half, half - 1);
      r.values[first + i] = static_cast<std::uint8_t>(static_cast<int>(step + half));
    }
  }
  return r;
}

double relative_error(const std::vector<float>& matrix, const RoundedMatrix& rounded) {
  double differences = 0, squares = 0;
  for (std::int64_t n = 0, i = 0; n < rounded.out; ++n)
    for (std::int64_t k = 0; k < rounded.in; ++k, ++i) {
      const auto v = static_cast<double>(matrix[static_cast<std::size_t>(i)]);
      const double left = v - static_cast<double>(rounded.at(n, k));
      differences += left * left, squares += v * v;
    }
  return squares > 0 ? std::sqrt(differences / squares) : 0;
}

namespace {

// [blocks, out] of fp4.
Tensor scales_by_block(const RoundedMatrix& r) {
  Tensor scales(r.fp4 == Fp4::nvfp4 ? DType::f8e4m3fn : DType::f8e8m0, {r.blocks(), r.out});
  auto* const to = scales.mutable_data<std::uint8_t>();
  for (std::int64_t n = 0; n < r.out; ++n)
    for (std::int64_t b = 0; b < r.blocks(); ++b) to[b * r.out + n] = r.scale_codes[static_cast<std::size_t>(n * r.blocks() + b)];
  return scales;
}

}  // namespace

NarrowMatrix narrow_matrix(const RoundedMatrix& r) {
  NarrowMaker maker(r.bits, r.in, r.out, r.block);
  constexpr std::int64_t kTile = 64;  // outputs whose values are in the cache while those of an input are written
  std::array<std::uint8_t, kTile> row;
  for (std::int64_t first = 0; first < r.out; first += kTile) {
    const std::int64_t count = std::min(kTile, r.out - first);
    for (std::int64_t k = 0; k < r.in; ++k) {
      for (std::int64_t n = 0; n < count; ++n)
        row[static_cast<std::size_t>(n)] = r.values[static_cast<std::size_t>((first + n) * r.in + k)];
      maker.set_row(k, first, std::span(row.data(), static_cast<std::size_t>(count)));
    }
  }
  if (r.fp4 != Fp4::none) return maker.take_e2m1(scales_by_block(r), r.global);
  for (std::int64_t n = 0; n < r.out; ++n)
    for (std::int64_t b = 0; b < r.blocks(); ++b) maker.set_scale(b, n, r.scales[static_cast<std::size_t>(n * r.blocks() + b)]);
  return maker.take();
}

}  // namespace tenfold::transformers
