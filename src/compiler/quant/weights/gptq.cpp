// The element whose data are largest is rounded first, and what its rounding does to the results goes into those after it.
//
// With H the moments and U the upper factor of its inverse (U'U = H^-1), rounding element i off by e asks of element j > i to move by
// -e U[i,j] / U[i,i]. Scales are those of the weights as they were, so that groups stay as they lie, whatever the order. Their search
// weighs errors by what they cost once the other elements made good for them. At last coordinate descent betters single elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/threads/spread.h"
#include "quant/weights/descent.h"
#include "quant/weights/groups.h"

namespace tenfold::quant {
namespace {

// -O1 makes no vectors of loops, and these take all the time.
using Four [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
constexpr std::int64_t kLanes = 4;

double dot(const double* a, const double* b, std::int64_t n) {
  Four sums[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes)
    for (int s = 0; s < 2; ++s)
      sums[s] += *reinterpret_cast<const Four*>(a + i + s * kLanes) * *reinterpret_cast<const Four*>(b + i + s * kLanes);
  double sum = 0;
  for (const Four& s : sums) sum += s[0] + s[1] + s[2] + s[3];
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
// to -= by * from
void subtract(double* to, double by, const double* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) *reinterpret_cast<Four*>(to + i) -= by * *reinterpret_cast<const Four*>(from + i);
  for (; i < n; ++i) to[i] -= by * from[i];
}

struct Square {
  explicit Square(std::int64_t n) : n(n), values(static_cast<std::size_t>(n * n)) {}
  double* row(std::int64_t i) { return values.data() + i * n; }
  const double* row(std::int64_t i) const { return values.data() + i * n; }
  std::int64_t n;
  std::vector<double> values;
};

// R with H = R R', in place of H's upper half; false: there is none.
bool factorize(Square& h) {
  for (std::int64_t j = h.n - 1; j >= 0; --j) {
    double* const last = h.row(j);
    const std::int64_t behind = h.n - 1 - j;
    const double square = last[j] - dot(last + j + 1, last + j + 1, behind);
    if (!(square > 0) || !std::isfinite(square)) return false;
    last[j] = std::sqrt(square);
    for (std::int64_t i = 0; i < j; ++i) h.row(i)[j] = (h.row(i)[j] - dot(h.row(i) + j + 1, last + j + 1, behind)) / last[j];
  }
  return true;
}

// U = R^-1, so that U'U is the inverse of R R'.
Square inverted(const Square& r) {
  Square u(r.n);
  for (std::int64_t i = r.n - 1; i >= 0; --i) {
    double* const row = u.row(i);
    row[i] = 1;
    for (std::int64_t k = i + 1; k < r.n; ++k) subtract(row + k, r.row(i)[k], u.row(k) + k, r.n - k);
    const double by = 1 / r.row(i)[i];
    for (std::int64_t j = i; j < r.n; ++j) row[j] *= by;
  }
  return u;
}

using Order = std::vector<std::int64_t>;

Order by_moment(const std::vector<float>& moments, std::int64_t n) {
  Order order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto own = [&](std::int64_t i) { return moments[static_cast<std::size_t>(i * n + i)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return own(a) > own(b); });
  return order;
}

Square ordered(const std::vector<float>& moments, const Order& order) {
  Square h(static_cast<std::int64_t>(order.size()));
  for (std::int64_t i = 0; i < h.n; ++i)
    for (std::int64_t j = i; j < h.n; ++j)
      h.row(i)[j] = static_cast<double>(
          moments[static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * h.n + order[static_cast<std::size_t>(j)])]);
  return h;
}

// What an error of each element costs once all others made good for it: the inverse of the diagonal of H^-1.
std::vector<double> importance_of(const Square& u, const Order& order) {
  std::vector<double> importance(order.size());
  for (std::int64_t i = 0; i < u.n; ++i)
    for (std::int64_t j = i; j < u.n; ++j)
      importance[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])] += u.row(i)[j] * u.row(i)[j];
  for (double& x : importance) x = 1 / x;
  return importance;
}

void round_column(GroupedWeights& q, std::int64_t column, std::span<const float> weights, const Order& order, const Square& u,
                  const GroupForm& form) {
  std::vector<double> left(static_cast<std::size_t>(q.rows));
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<double>(weights[static_cast<std::size_t>(order[i])]);
  for (std::int64_t i = 0; i < q.rows; ++i) {
    const std::int64_t row = order[static_cast<std::size_t>(i)];
    const auto g = static_cast<std::size_t>(column * q.groups + row / form.group);
    const double x = left[static_cast<std::size_t>(i)];
    const int level = Steps{q.scales[g], q.zeros[g]}.level(x, form.largest());
    q.values[static_cast<std::size_t>(column * q.rows + row)] = static_cast<std::uint8_t>(level);
    const double off = x - (level - q.zeros[g]) * static_cast<double>(q.scales[g]);
    subtract(left.data() + i + 1, off / u.row(i)[i], u.row(i) + i + 1, q.rows - i - 1);
  }
}

// What was rounded first could not know of the errors behind it.
void better(GroupedWeights& q, std::int64_t column, std::span<const float> weights, const std::vector<float>& moments,
            const GroupForm& form) {
  Stepped stepped{.weights = {weights.begin(), weights.end()}};
  std::uint8_t* const values = q.values.data() + column * q.rows;
  for (std::int64_t i = 0; i < q.rows; ++i) {
    const auto g = static_cast<std::size_t>(column * q.groups + i / form.group);
    const auto zero = static_cast<float>(q.zeros[g]);
    stepped.steps.push_back(q.scales[g]), stepped.levels.push_back(static_cast<float>(values[i]) - zero);
    stepped.min.push_back(-zero), stepped.max.push_back(static_cast<float>(form.largest()) - zero);
  }
  descend(moments, stepped);
  for (std::size_t i = 0; i < stepped.levels.size(); ++i) values[i] = static_cast<std::uint8_t>(stepped.levels[i] - stepped.min[i]);
}

}  // namespace

GroupedWeights round_by_gptq(const Columns& weights, const Moments& moments, const GroupForm& form) {
  const std::vector<float> damped = moments.damped();
  const Order order = by_moment(damped, weights.rows);
  Square h = ordered(damped, order);
  if (!factorize(h)) return round_to_nearest(weights, form);
  const Square u = inverted(h);
  GroupedWeights q = with_scales(weights, importance_of(u, order), form);
  const std::int64_t touched = q.columns * q.rows * q.rows;
  spread_stretches(q.columns, 1, touched, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      round_column(q, c, weights.column(c), order, u, form);
      better(q, c, weights.column(c), damped, form);
    }
  });
  return q;
}

}  // namespace tenfold::quant
