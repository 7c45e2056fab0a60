#include "quant/weights/moments.h"

#include <algorithm>
#include <numeric>

#include "base/threads/spread.h"

namespace tenfold::quant {
namespace {

constexpr double kDamping = 0.1;

constexpr std::int64_t kRows = 4;   // at a time, for the matrix is larger than caches

// to += the sum of by[k] * from[k]
void add(float* to, const float (&by)[kRows], const float* const (&from)[kRows], std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] += by[0] * from[0][j] + by[1] * from[1][j] + by[2] * from[2][j] + by[3] * from[3][j];
}

// Of row i of a symmetric matrix with x, of which the part left of the diagonal counts where it stands: twice on the right.
float upper_sum(const float* row, const float* x, std::size_t i, std::size_t n) {
  constexpr std::size_t kLanes = 16;
  float lanes[kLanes] = {};
  std::size_t j = i + 1;
  for (; j + kLanes <= n; j += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += row[j + lane] * x[j + lane];
  float sum = 0;
  for (; j < n; ++j) sum += row[j] * x[j];
  for (const float lane : lanes) sum += lane;
  return 2 * sum + row[i] * x[i];
}

}  // namespace

Moments::Moments(std::int64_t size, std::int64_t groups)
    : size_(size), groups_(groups), sums_(static_cast<std::size_t>(groups * size * size)) {}

void Moments::add(const float* rows, std::int64_t count) {
  const std::int64_t n = size_, length = groups_ * n;
  const std::int64_t touched = static_cast<std::int64_t>(sums_.size()) * 4 * (count / kRows + 1);
  spread_stretches(length, 8, touched, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = 0; r < count; r += kRows)
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t i = at % n;
        const float* x[kRows];   // from element i on
        float by[kRows];
        bool any = false;
        for (std::int64_t k = 0; k < kRows; ++k) {
          x[k] = rows + std::min(r + k, count - 1) * length + at;
          by[k] = r + k < count ? *x[k] : 0, any |= by[k] != 0;
        }
        if (any) quant::add(sums_.data() + at * n + i, by, x, n - i);
      }
  });
}

Moments Moments::divided(const std::vector<float>& by) const {
  Moments result = *this;
  for (std::size_t i = 0; i < by.size(); ++i)
    for (std::size_t j = i; j < by.size(); ++j) result.sums_[i * by.size() + j] /= by[i] * by[j];
  return result;
}

double Moments::squares(std::span<const float> columns) const {
  const auto n = static_cast<std::size_t>(size_), count = columns.size() / n;
  std::vector<double> sums(count);
  constexpr std::size_t kColumns = 16;   // that a row of the matrix meets while it is in the cache
  spread_stretches(static_cast<std::int64_t>(count), kColumns, static_cast<std::int64_t>(columns.size() * n), [&](auto begin, auto end) {
    for (auto first = static_cast<std::size_t>(begin); first < static_cast<std::size_t>(end); first += kColumns)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = first; c < std::min(first + kColumns, static_cast<std::size_t>(end)); ++c) {
          const float* const x = columns.data() + c * n;
          if (x[i] != 0) sums[c] += static_cast<double>(x[i]) * static_cast<double>(upper_sum(sums_.data() + i * n, x, i, n));
        }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

std::vector<float> Moments::damped(std::int64_t group) const {
  const float* const from = of_group(group);
  double trace = 0;
  for (std::int64_t i = 0; i < size_; ++i) trace += static_cast<double>(from[i * size_ + i]);
  const auto more = static_cast<float>(kDamping * trace / static_cast<double>(size_));
  std::vector<float> whole(from, from + size_ * size_);
  for (std::int64_t i = 0; i < size_; ++i) {
    float* const row = whole.data() + i * size_;
    for (std::int64_t j = 0; j < i; ++j) row[j] = from[j * size_ + i];
    row[i] += more;
  }
  return whole;
}

}  // namespace tenfold::quant
