// Softmax(scale * q * k' + mask) * v for one head, in double: the arithmetic that all attention operators share.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/real_access.h"

namespace tenfold::ops {

// One head: rows of q, k and v are strided, so that heads may lie packed in the last dim or each on its own.
template <class T>
struct Head {
  const T *q, *k, *v;
  T* y;
  std::int64_t q_row, k_row, v_row, y_row;       // distance between rows
  std::int64_t queries, keys, size, value_size;  // S, T, head size of q and k, head size of v
  double hidden_row = 0;                         // what a query gives from which every key is hidden
};

// `adjust(query, key, score)` turns a scaled score into the one that is normalized; minus infinity hides the key.
// `probability(query, key, p)` is told the weights, which are zero where a query sees no key.
template <class T, class Adjust, class Probability>
void attend(const Head<T>& head, double scale, Adjust&& adjust, Probability&& probability) {
  std::vector<double> weights(static_cast<std::size_t>(head.keys)), sums(static_cast<std::size_t>(head.value_size));
  for (std::int64_t s = 0; s < head.queries; ++s) {
    const T* q = head.q + s * head.q_row;
    double largest = -INFINITY, total = 0;
    for (std::int64_t t = 0; t < head.keys; ++t) {
      const T* k = head.k + t * head.k_row;
      double dot = 0;
      for (std::int64_t i = 0; i < head.size; ++i) dot += static_cast<double>(q[i]) * static_cast<double>(k[i]);
      const double score = adjust(s, t, dot * scale);
      weights[static_cast<std::size_t>(t)] = score;
      if (!std::isnan(largest) && !(score <= largest)) largest = score;   // NaN stays
    }
    const bool hidden = largest == -INFINITY;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t t = 0; t < head.keys && !hidden; ++t) {
      const double weight = std::exp(weights[static_cast<std::size_t>(t)] - largest);
      total += weight;
      const T* v = head.v + t * head.v_row;
      for (std::int64_t i = 0; i < head.value_size; ++i) sums[static_cast<std::size_t>(i)] += weight * static_cast<double>(v[i]);
    }
    for (std::int64_t t = 0; t < head.keys; ++t) {
      probability(s, t, hidden ? 0.0 : std::exp(weights[static_cast<std::size_t>(t)] - largest) / total);
    }
    T* y = head.y + s * head.y_row;
    const double without = head.keys > 0 ? head.hidden_row : 0;
    for (std::int64_t i = 0; i < head.value_size; ++i) y[i] = static_cast<T>(hidden ? without : sums[static_cast<std::size_t>(i)] / total);
  }
}

template <class T, class Adjust>
void attend(const Head<T>& head, double scale, Adjust&& adjust) {
  attend(head, scale, adjust, [](std::int64_t, std::int64_t, double) {});
}

// Where element [b, h, s, t] lies in a mask that broadcasts to four dims.
class MaskIndex {
 public:
  explicit MaskIndex(const Shape& shape) {
    std::int64_t stride = 1;
    for (std::size_t back = 1; back <= shape.size() && back <= 4; ++back) {
      const std::int64_t extent = shape[shape.size() - back];
      strides_[4 - back] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  std::int64_t operator()(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t) const {
    return b * strides_[0] + h * strides_[1] + s * strides_[2] + t * strides_[3];
  }

 private:
  std::int64_t strides_[4] = {0, 0, 0, 0};
};

}  // namespace tenfold::ops
