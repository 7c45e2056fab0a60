// Which weights may share 16 bits: unsigned bytes of A are at most 255, so a sum of products fits exactly if its positive weights
// add up to 128 at most and its negative ones to -128 at least: 255 * 128 = 32640 < 2^15.
#include "backends/cpu/tactics/int8/int8_order_common.h"

#include <algorithm>

namespace tenfold::backends::cpu {
namespace {

constexpr int kMax = 128, kPartners = 24;  // how many groups are tried as partner of a group

// The positive and the negative weights of each pair of a group, for all columns.
struct Sums {
  std::vector<std::int16_t> positive, negative;

  // `group`: [4][width]; odd weights times `odd_sign`.
  Sums(const std::int8_t* group, std::int64_t width, int odd_sign) {
    for (int pair = 0; pair < 2; ++pair) {
      for (std::int64_t j = 0; j < width; ++j) {
        const int even = group[2 * pair * width + j], odd = odd_sign * group[(2 * pair + 1) * width + j];
        positive.push_back(static_cast<std::int16_t>(std::max(even, 0) + std::max(odd, 0)));
        negative.push_back(static_cast<std::int16_t>(std::min(even, 0) + std::min(odd, 0)));
      }
    }
  }
  bool fit() const {
    return std::all_of(positive.begin(), positive.end(), [](int x) { return x <= kMax; }) &&
           std::all_of(negative.begin(), negative.end(), [](int x) { return x >= -kMax; });
  }
  bool fit_with(const Sums& other) const {
    for (std::size_t i = 0; i < positive.size(); ++i) {
      if (positive[i] + other.positive[i] > kMax || negative[i] + other.negative[i] < -kMax) return false;
    }
    return true;
  }
};

bool can_be_flipped(const std::int8_t* group, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    if (group[width + j] == -128 || group[3 * width + j] == -128) return false;  // 128 is no signed byte
  }
  return Sums(group, width, -1).fit();
}

}  // namespace

void Int8Chunk::pack(const std::int8_t* values, std::uint16_t* order, std::int8_t* packed, std::int32_t* constants) const {
  std::vector<std::int64_t> members[kInt8Classes], plain;
  std::vector<Sums> sums;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int8_t* group = values + g * 4 * width;
    sums.emplace_back(group, width, 1);
    if (sums.back().fit())
      plain.push_back(g);
    else
      members[can_be_flipped(group, width) ? kInt8Flipped : kInt8Wide].push_back(g);
  }
  std::vector<bool> taken(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto group = static_cast<std::size_t>(plain[i]);
    if (taken[group]) continue;
    std::size_t partner = group;
    for (std::size_t j = i + 1, tried = 0; j < plain.size() && tried < kPartners && partner == group; ++j) {
      const auto other = static_cast<std::size_t>(plain[j]);
      if (taken[other]) continue;
      if (sums[group].fit_with(sums[other])) partner = other;
      ++tried;
    }
    taken[group] = taken[partner] = true;
    if (partner == group) {
      members[kInt8Plain].push_back(plain[i]);
    } else {
      members[kInt8Twice].push_back(plain[i]);
      members[kInt8Twice].push_back(static_cast<std::int64_t>(partner));
    }
  }
  std::uint16_t* at = order + kInt8Classes;
  for (int c = 0; c < kInt8Classes; ++c) {
    order[c] = static_cast<std::uint16_t>(members[c].size());
    for (const std::int64_t g : members[c]) {
      *at++ = static_cast<std::uint16_t>(4 * g);
      for (std::int64_t i = 0; i < 4 * width; ++i, ++packed) {
        const std::int64_t column = i / 4;
        const int value = values[(4 * g + i % 4) * width + column];
        const bool negated = c == kInt8Flipped && i % 2 == 1;
        *packed = static_cast<std::int8_t>(negated ? -value : value);
        if (negated) constants[column] += 255 * value;  // a * w = 255 * w + (255 - a) * -w
      }
    }
  }
}

void Int8Chunk::unpack(const std::uint16_t* order, const std::int8_t* packed, std::int8_t* values) const {
  if (!has(order)) return;
  const std::uint16_t* at = order + kInt8Classes;
  for (int c = 0; c < kInt8Classes; ++c) {
    for (int n = 0; n < order[c]; ++n, ++at) {
      for (std::int64_t i = 0; i < 4 * width; ++i, ++packed) {
        const bool negated = c == kInt8Flipped && i % 2 == 1;
        values[(*at + i % 4) * width + i / 4] = static_cast<std::int8_t>(negated ? -*packed : *packed);
      }
    }
  }
}

std::vector<std::uint16_t> Int8Chunk::typical_order() const {
  std::vector<std::uint16_t> order(static_cast<std::size_t>(order_words()));
  order[kInt8Flipped] = static_cast<std::uint16_t>(groups / 4);
  order[kInt8Wide] = static_cast<std::uint16_t>(groups / 5);
  order[kInt8Plain] = static_cast<std::uint16_t>(groups - order[kInt8Flipped] - order[kInt8Wide]);
  for (std::int64_t g = 0; g < groups; ++g) order[static_cast<std::size_t>(kInt8Classes + g)] = static_cast<std::uint16_t>(4 * g);
  return order;
}

bool Int8Chunk::has(const std::uint16_t* order) const noexcept {
  std::int64_t total = 0;
  for (int c = 0; c < kInt8Classes; ++c) total += order[c];
  std::uint16_t last = 0;
  for (std::int64_t i = 0; i < groups; ++i) last = std::max(last, order[kInt8Classes + i]);
  return total == groups && order[kInt8Twice] % 2 == 0 && last <= 4 * (groups - 1);
}

}  // namespace tenfold::backends::cpu
