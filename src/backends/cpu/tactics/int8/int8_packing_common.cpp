// Packed int8 weights: values as they are stored, their sums, and what corrects results for the difference.
#include <algorithm>
#include <cstring>

#include "backends/cpu/tactics/int8/int8_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

// f(j) for each j below count, in loops of known length, which become vectors without -O3.
template <class F>
inline void for_lines(std::int64_t count, const F& f) {
  constexpr std::int64_t kLine = 16;
  std::int64_t j = 0;
  for (; j + kLine <= count; j += kLine)
    for (std::int64_t c = 0; c < kLine; ++c) f(j + c);
  for (; j < count; ++j) f(j);
}

void widen_range(const std::int16_t* __restrict row, std::int64_t count, std::int16_t* __restrict min, std::int16_t* __restrict max) {
  for_lines(count, [&](std::int64_t j) {
    min[j] = std::min(min[j], row[j]);
    max[j] = std::max(max[j], row[j]);
  });
}

// Stores a row less what each column is moved by, and adds it to the columns' sums.
void store_row(const std::int16_t* __restrict row, const std::int16_t* __restrict moved, std::int64_t count, std::int32_t* __restrict sums,
               std::int8_t* __restrict stored) {
  for_lines(count, [&](std::int64_t j) {
    const auto value = static_cast<std::int16_t>(row[j] - moved[j]);
    sums[j] += value;
    stored[j] = static_cast<std::int8_t>(value);
  });
}

// Four rows, `stride` apart, column by column.
void interleave(const std::int8_t* __restrict rows, std::int64_t stride, std::int64_t count, std::int8_t* __restrict to) {
  const auto *first = reinterpret_cast<const std::uint8_t*>(rows), *second = first + stride, *third = second + stride,
             *fourth = third + stride;
  auto* words = reinterpret_cast<std::uint32_t*>(to);
  for_lines(count, [&](std::int64_t j) {
    words[j] = std::uint32_t{first[j]} | std::uint32_t{second[j]} << 8 | std::uint32_t{third[j]} << 16 | std::uint32_t{fourth[j]} << 24;
  });
}

}  // namespace

std::vector<std::int16_t> int8_values(const Tensor& weights) {
  const auto count = static_cast<std::size_t>(weights.size());
  if (weights.dtype() == DType::u8) return {weights.data<std::uint8_t>(), weights.data<std::uint8_t>() + count};
  return {weights.data<std::int8_t>(), weights.data<std::int8_t>() + count};
}

Int8Packing::Int8Packing(const Int8Weights& weights, const Int8Kernels& kernels)
    : weights_(weights),
      nr_(kernels.nr),
      k_group_(kernels.k_group),
      k_step_(kernels.k_step),
      chunk_(kernels.k_chunk),
      ordered_(kernels.ordered) {
  columns_ = round_up(weights.n, nr_ / 2);
  depth_ = round_up(weights.k, k_group_ * k_step_);
  order_at_ = round_up(checked_mul(kRows * 4, columns_), 64);
  const std::int64_t orders = ordered_ ? checked_mul(ceil_div(columns_, nr_), order_words() * 2) : 0;
  body_at_ = checked_add(order_at_, round_up(orders, 64));
  group_bytes_ = checked_add(body_at_, round_up(checked_mul(columns_, depth_), 64));
  checked_mul(group_bytes_, weights.groups);
}

// Calls f(value, slot, step, count) for stretches of row `k` of the stored values: the value's number, where it lies in the body, the bytes
// from it to its neighbor's. Half panels lie side by side where a tile of B is `k_step` groups deep (AMX); else the panel's columns do.
template <class F>
void Int8Packing::for_row(std::int64_t k, const F& f) const {
  const std::int64_t half = nr_ / 2, deep = k_group_ * k_step_;
  for (std::int64_t first = 0; first < columns_; first += panel_width(first)) {
    const std::int64_t width = panel_width(first), value = k * columns_ + first, panel = first * depth_;
    if (k_step_ == 1) {
      f(value, panel + k / k_group_ * k_group_ * width + k % k_group_, k_group_, width);
      continue;
    }
    const std::int64_t row = panel + k / deep * deep * width + k % deep / k_group_ * k_group_ * half + k % k_group_;
    for (std::int64_t lane = 0; lane < width; lane += half) f(value + lane, row + lane * deep, k_group_, half);
  }
}

void Int8Packing::pack_body(const std::vector<std::int8_t>& stored, std::int64_t group, void* packed) const {
  auto* body = reinterpret_cast<std::int8_t*>(const_cast<char*>(panel(packed, group, 0, 0)));
  if (!ordered_ && k_group_ == 4) {
    for (std::int64_t k = 0; k < depth_; k += 4)
      for_row(k, [&](std::int64_t value, std::int64_t slot, std::int64_t, std::int64_t count) {
        interleave(stored.data() + value, columns_, count, body + slot);
      });
    return;
  }
  if (!ordered_) {
    for (std::int64_t k = 0; k < depth_; ++k)
      for_row(k, [&](std::int64_t value, std::int64_t slot, std::int64_t step, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) body[slot + i * step] = stored[static_cast<std::size_t>(value + i)];
      });
    return;
  }
  auto* added = const_cast<std::int32_t*>(constants(packed, group));
  std::vector<std::int8_t> values;
  for (std::int64_t column = 0; column < columns_; column += panel_width(column)) {
    for (std::int64_t k = 0; k < depth_; k += chunk_) {
      const Int8Chunk part = chunk(column, k);
      values.clear();
      for (std::int64_t i = 0; i < part.groups * 4; ++i) {
        const auto from = stored.begin() + (k + i) * columns_ + column;
        values.insert(values.end(), from, from + part.width);
      }
      auto* to = reinterpret_cast<std::int8_t*>(const_cast<char*>(panel(packed, group, column, k)));
      part.pack(values.data(), const_cast<std::uint16_t*>(order(packed, group, column, k)), to, added + column);
    }
  }
}

std::vector<std::int8_t> Int8Packing::unpack_body(const void* packed, std::int64_t group) const {
  std::vector<std::int8_t> stored(static_cast<std::size_t>(depth_ * columns_));
  if (!ordered_) {
    const auto* body = reinterpret_cast<const std::int8_t*>(panel(packed, group, 0, 0));
    for (std::int64_t k = 0; k < depth_; ++k)
      for_row(k, [&](std::int64_t value, std::int64_t slot, std::int64_t step, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) stored[static_cast<std::size_t>(value + i)] = body[slot + i * step];
      });
    return stored;
  }
  for (std::int64_t column = 0; column < columns_; column += panel_width(column)) {
    for (std::int64_t k = 0; k < depth_; k += chunk_) {
      const Int8Chunk part = chunk(column, k);
      std::vector<std::int8_t> values(static_cast<std::size_t>(part.values()));
      part.unpack(order(packed, group, column, k), reinterpret_cast<const std::int8_t*>(panel(packed, group, column, k)), values.data());
      for (std::int64_t i = 0; i < part.groups * 4; ++i)
        std::copy_n(values.begin() + i * part.width, part.width, stored.begin() + (k + i) * columns_ + column);
    }
  }
  return stored;
}

// How far below their values the columns of a group are stored: unsigned values 128, signed ones not at all, and what fits in 8 bits less
// its zero point by that.
std::vector<std::int32_t> Int8Packing::moved_by(const std::int16_t* weights, const std::int32_t* zeros) const {
  const auto n = static_cast<std::size_t>(weights_.n);
  std::vector<std::int32_t> moved(zeros, zeros + n);
  std::vector<std::int16_t> min(zeros, zeros + n), max(min);
  for (std::int64_t i = 0; i < weights_.k; ++i, weights += n) widen_range(weights, weights_.n, min.data(), max.data());
  for (std::size_t j = 0; j < n; ++j)
    if (min[j] - zeros[j] < -128 || max[j] - zeros[j] > 127) moved[j] = max[j] > 127 ? 128 : 0;
  return moved;
}

void Int8Packing::pack(std::span<const std::int16_t> weights, std::span<const std::int32_t> zeros, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(bytes()));
  const std::int64_t n = weights_.n, k = weights_.k;
  std::vector<std::int8_t> stored(static_cast<std::size_t>(depth_ * columns_));
  for (std::int64_t g = 0; g < weights_.groups; ++g) {
    auto* head = const_cast<std::int32_t*>(sums(packed, g));
    const std::int16_t* row = weights.data() + g * k * n;
    const std::int32_t* zero = zeros.data() + g * n;
    const std::vector<std::int32_t> moved = moved_by(row, zero);
    const std::vector<std::int16_t> less(moved.begin(), moved.end());
    for (std::int64_t i = 0; i < k; ++i, row += n) store_row(row, less.data(), n, head, stored.data() + i * columns_);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int32_t by = moved[static_cast<std::size_t>(j)];
      head[2 * columns_ + j] = zero[j] - by;
      head[3 * columns_ + j] = by;
      if (zero[j] != by) *static_cast<std::int32_t*>(packed) = 1;
    }
    pack_body(stored, g, packed);
  }
}

std::vector<std::int16_t> Int8Packing::unpack(const void* packed) const {
  std::vector<std::int16_t> weights;
  for (std::int64_t g = 0; g < weights_.groups; ++g) {
    const std::vector<std::int8_t> stored = unpack_body(packed, g);
    for (std::int64_t i = 0; i < weights_.k; ++i)
      for (std::int64_t j = 0; j < weights_.n; ++j)
        weights.push_back(static_cast<std::int16_t>(stored[static_cast<std::size_t>(i * columns_ + j)] + moved(packed, g)[j]));
  }
  return weights;
}

}  // namespace tenfold::backends::cpu
