// Second moments of the data that weights are multiplied with: they tell what an error of one weight costs, and which others make good for
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenfold::quant {

// The sum of x[i] x[j] over all rows x, for each group of the elements of a row.
class Moments {
 public:
  explicit Moments(std::int64_t size, std::int64_t groups = 1);
  void add(const float* rows, std::int64_t count);   // [count, groups * size]

  std::int64_t size() const { return size_; }
  // [size, size], of which the upper half is filled.
  const float* of_group(std::int64_t group) const { return sums_.data() + group * size_ * size_; }
  // The whole matrix of a group, with a tenth of the mean moment of an element with itself added to each of these. That is as much as a few
  // thousand rows of data need: with less, weights make good for each other by what other data do not have.
  std::vector<float> damped(std::int64_t group = 0) const;
  // The sum of the squares of what columns of [size] give with the data of one group.
  double squares(std::span<const float> columns) const;
  Moments divided(const std::vector<float>& by) const;  // of one group, whose data are divided so

 private:
  std::int64_t size_, groups_;
  std::vector<float> sums_;
};

}  // namespace tenfold::quant
