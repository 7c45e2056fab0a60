// Softmax, logistic and probit of one row of scores, as ONNX Runtime has them.
#include "ops/ml/transform_common.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ir/fault.h"

namespace tenfold::ops {
namespace {

// The inverse of the error function, by the approximation that the standard's reference has.
double inverse_erf(double x) {
  const double rest = (1 - x) * (1 + x);
  if (rest == 0) return 0;
  const double log = std::log(rest), a = 2 / (M_PI * 0.147) + 0.5 * log;
  return std::copysign(std::sqrt(std::sqrt(a * a - log / 0.147) - a), x);
}

// `zero`: what is nearly 0 stays so.
void softmax(std::span<double> scores, bool zero) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) {
    s = zero && std::abs(s) <= 1e-7 ? s * std::exp(-largest) : std::exp(s - largest);
    sum += s;
  }
  for (double& s : scores) s = sum == 0 ? 0.5 : s / sum;
}

}  // namespace

PostTransform post_transform(const std::string& name) {
  static constexpr std::array<std::string_view, 5> names = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const auto* at = std::find(names.begin(), names.end(), name);
  ir::validate(at != names.end(), "post_transform '", name, "'; the standard has NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and PROBIT");
  return static_cast<PostTransform>(at - names.begin());
}

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

void transform(std::span<double> scores, PostTransform how) {
  if (scores.empty() || how == PostTransform::none) return;
  if (how == PostTransform::softmax || how == PostTransform::softmax_zero) return softmax(scores, how == PostTransform::softmax_zero);
  for (double& s : scores) s = how == PostTransform::logistic ? logistic(s) : 1.41421356 * inverse_erf(s * 2 - 1);
}

}  // namespace tenfold::ops
