// Packed int8 weights: values as they are stored, their sums, and what corrects results for the difference.
#include <cstring>

#include "backends/cpu/tactics/int8_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

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

std::int64_t Int8Packing::slot(std::int64_t k, std::int64_t column) const {
  const std::int64_t first = column / nr_ * nr_, width = panel_width(first), lane = column - first;
  // Half panels side by side where a tile of B is `k_step` groups deep (AMX); else the panel's columns are neighbours.
  if (k_step_ > 1) {
    const std::int64_t half = nr_ / 2, deep = k_group_ * k_step_;
    return first * depth_ + k / deep * deep * width + lane / half * half * deep + k % deep / k_group_ * k_group_ * half +
           lane % half * k_group_ + k % k_group_;
  }
  return first * depth_ + k / k_group_ * k_group_ * width + lane * k_group_ + k % k_group_;
}

void Int8Packing::pack_body(const std::vector<std::int8_t>& stored, std::int64_t group, void* packed) const {
  auto* body = reinterpret_cast<std::int8_t*>(const_cast<char*>(panel(packed, group, 0, 0)));
  if (!ordered_) {
    for (std::int64_t k = 0; k < depth_; ++k)
      for (std::int64_t j = 0; j < columns_; ++j) body[slot(k, j)] = stored[static_cast<std::size_t>(k * columns_ + j)];
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
      for (std::int64_t j = 0; j < columns_; ++j) stored[static_cast<std::size_t>(k * columns_ + j)] = body[slot(k, j)];
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

void Int8Packing::pack(std::span<const std::int16_t> weights, std::span<const std::int32_t> zeros, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(bytes()));
  const std::int64_t n = weights_.n, k = weights_.k;
  for (std::int64_t g = 0; g < weights_.groups; ++g) {
    auto* head = const_cast<std::int32_t*>(sums(packed, g));
    std::vector<std::int8_t> stored(static_cast<std::size_t>(depth_ * columns_));
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int16_t* column = weights.data() + g * k * n + j;
      const std::int32_t zero = zeros[static_cast<std::size_t>(g * n + j)];
      std::int32_t least = 0, most = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        least = std::min(least, column[i * n] - zero);
        most = std::max(most, column[i * n] - zero);
      }
      std::int32_t moved_by = zero;
      if (least < -128 || most > 127) {  // unsigned values are stored less 128, signed ones as they are
        moved_by = 0;
        for (std::int64_t i = 0; i < k && moved_by == 0; ++i) moved_by = column[i * n] > 127 ? 128 : 0;
        *static_cast<std::int32_t*>(packed) = 1;
      }
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int32_t value = column[i * n] - moved_by;
        head[j] += value;
        stored[static_cast<std::size_t>(i * columns_ + j)] = static_cast<std::int8_t>(value);
      }
      head[2 * columns_ + j] = zero - moved_by;
      head[3 * columns_ + j] = moved_by;
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
