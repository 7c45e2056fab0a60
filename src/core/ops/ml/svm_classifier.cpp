// SVMClassifier: of support vectors, each pair of classes has a score and gives a vote; or each class has a product with coefficients.
#include <algorithm>
#include <cmath>

#include "ops/ml/labels_common.h"
#include "ops/ml/transform_common.h"
#include "ops/ml/trees_common.h"
#include "ops/ml/vector_machine_common.h"

namespace tenfold::ir {
namespace {

struct Model {
  Tensor labels;
  Floats weights, offsets, slopes, shifts, vectors;
  Ints starts;                                   // of the vectors of each class, and the end
  std::int64_t classes, count = 0, features;
  ops::PostTransform post;
  ops::VectorKernel kernel;

  static Floats list(const Attributes& a, const char* name) { return a.has(name) ? a.floats(name) : Floats(); }
  static std::int64_t vectors_in(const Attributes& a) {
    std::int64_t sum = 0;
    for (const std::int64_t n : a.ints("vectors_per_class", {})) {
      validate(n >= 0 && n <= 1 << 24, "vectors_per_class has ", n);
      sum += n;
    }
    return sum;
  }

  explicit Model(const Attributes& a)
      : labels(ops::class_labels(a, "classlabels_ints", "classlabels_strings")), weights(list(a, "coefficients")), offsets(list(a, "rho")),
        slopes(list(a, "prob_a")), shifts(list(a, "prob_b")), vectors(list(a, "support_vectors")), classes(labels.size()),
        count(vectors_in(a)), post(ops::post_transform(a.string("post_transform"))), kernel(a, count == 0) {
    validate(!weights.empty() && !offsets.empty(), "coefficients or rho is empty");
    supported(classes >= 2, "a classifier with one label");
    const std::size_t pairs = static_cast<std::size_t>(classes * (classes - 1) / 2);
    if (count == 0) {
      validate(static_cast<std::int64_t>(weights.size()) % classes == 0, weights.size(), " coefficients for ", classes, " classes");
      features = static_cast<std::int64_t>(weights.size()) / classes;
      return;
    }
    const Ints each = a.ints("vectors_per_class", {});
    validate(static_cast<std::int64_t>(each.size()) == classes, "vectors_per_class has ", each.size(), " entries for ", classes,
             " classes");
    starts.push_back(0);
    for (const std::int64_t n : each) starts.push_back(starts.back() + n);
    validate(static_cast<std::int64_t>(vectors.size()) % count == 0 && !vectors.empty(), "support_vectors has ", vectors.size(),
             " numbers for ", count, " vectors");
    features = static_cast<std::int64_t>(vectors.size()) / count;
    validate(static_cast<std::int64_t>(weights.size()) >= (classes - 1) * count && offsets.size() >= pairs, "there are ", weights.size(),
             " coefficients and ", offsets.size(), " of rho, ", (classes - 1) * count, " and ", pairs, " expected");
    validate(slopes.size() == shifts.size() && (slopes.empty() || slopes.size() >= pairs), "prob_a has ", slopes.size(),
             " entries, prob_b ", shifts.size(), ", ", pairs, " expected of each");
  }
  bool has_probabilities() const { return count > 0 && !slopes.empty(); }
  std::int64_t columns() const { return count == 0 || has_probabilities() || classes == 2 ? classes : classes * (classes - 1) / 2; }

  // Of each pair of classes: positive for the first.
  std::vector<double> pair_scores(const double* x) const {
    std::vector<double> kernels, scores;
    const auto rounded = [](double v) { return static_cast<double>(static_cast<float>(v)); };
    for (std::int64_t i = 0; i < count; ++i) kernels.push_back(rounded(kernel(x, vectors.data() + i * features, features)));
    const auto sum = [&](std::int64_t row, std::int64_t of) {
      double s = 0;
      for (std::int64_t i = starts[static_cast<std::size_t>(of)]; i < starts[static_cast<std::size_t>(of) + 1]; ++i)
        s += static_cast<double>(weights[static_cast<std::size_t>(row * count + i)]) * kernels[static_cast<std::size_t>(i)];
      return s;
    };
    for (std::int64_t i = 0; i < classes; ++i)
      for (std::int64_t j = i + 1; j < classes; ++j)
        scores.push_back(rounded(sum(j - 1, i) + sum(i, j) + static_cast<double>(offsets[scores.size()])));
    return scores;
  }
};

// Probabilities of classes from those of pairs: the minimum of the second form of Wu, Lin and Weng (2004), by their iteration.
std::vector<double> coupled(const std::vector<double>& pairs, std::int64_t classes) {
  const auto n = static_cast<std::size_t>(classes);
  std::vector<std::vector<double>> r(n, std::vector<double>(n)), q = r;
  for (std::size_t i = 0, at = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j, ++at) r[i][j] = pairs[at], r[j][i] = 1 - pairs[at];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i][i] += r[j][i] * r[j][i];
      q[i][j] = -r[j][i] * r[i][j];
    }
  std::vector<double> p(n, 1.0 / static_cast<double>(n)), qp(n);
  for (int round = 0; round < 100; ++round) {
    double all = 0, error = 0;
    for (std::size_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (std::size_t j = 0; j < n; ++j) qp[i] += q[i][j] * p[j];
      all += p[i] * qp[i];
    }
    for (const double v : qp) error = std::max(error, std::abs(v - all));
    if (error < 0.005 / static_cast<double>(n)) break;
    for (std::size_t i = 0; i < n; ++i) {
      const double step = (all - qp[i]) / q[i][i];
      p[i] += step;
      all = (all + step * (step * q[i][i] + 2 * qp[i])) / ((1 + step) * (1 + step));
      for (std::size_t j = 0; j < n; ++j) qp[j] = (qp[j] + step * q[i][j]) / (1 + step), p[j] /= 1 + step;
    }
  }
  return p;
}

std::int64_t largest(const std::vector<double>& values) { return std::max_element(values.begin(), values.end()) - values.begin(); }

// The scores of one row in place, and its class.
std::int64_t judge(const Model& m, const double* x, std::vector<double>& scores) {
  scores.clear();
  if (m.count == 0) {
    for (std::int64_t c = 0; c < m.classes; ++c)
      scores.push_back(m.kernel(x, m.weights.data() + c * m.features, m.features) + static_cast<double>(m.offsets[0]));
    std::int64_t best = largest(scores);
    if (m.classes == 2) {   // as ONNX Runtime has it: one score above the limit is the second class
      const bool positive = std::all_of(m.weights.begin(), m.weights.end(), [](float w) { return w >= 0; });
      const double score = scores[static_cast<std::size_t>(best)];
      if (m.slopes.empty() && (positive ? score >= 0.5 : score > 0)) best = 1;
    }
    ops::transform(scores, m.post);
    return best;
  }
  scores = m.pair_scores(x);
  std::vector<double> votes(static_cast<std::size_t>(m.classes));
  for (std::size_t i = 0, at = 0; i < votes.size(); ++i)
    for (std::size_t j = i + 1; j < votes.size(); ++j) ++votes[scores[at++] > 0 ? i : j];
  if (m.has_probabilities()) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double p = 1 - ops::logistic(scores[i] * static_cast<double>(m.slopes[i]) + static_cast<double>(m.shifts[i]));
      scores[i] = std::clamp(p, 1e-7, 1 - 1e-7);
    }
    scores = coupled(scores, m.classes);
    ops::transform(scores, m.post);
  } else if (m.classes == 2) {
    const double s = scores[0];
    if (m.post == ops::PostTransform::none) scores = {-s, s};
    else if (m.post == ops::PostTransform::logistic) scores = {ops::logistic(-s), ops::logistic(s)};
    else if (m.post == ops::PostTransform::probit) ops::transform(scores = {s, s}, m.post);
    else scores = {1 - s, s};
  } else {
    ops::transform(scores, m.post);
  }
  return largest(votes);
}

void infer(InferCall& call) {
  const Model model(call.attributes());
  ops::infer_rows(call, 0, model.labels.dtype(), -1);
  ops::infer_rows(call, 1, DType::f32, model.columns());
}

void on_values(ValueCall& call) {
  const Model model(call.attributes());
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, model.features, rows, columns);
  call.check_shape(columns == model.features, "rows have ", columns, " features, ", model.features, " expected");
  Tensor y(DType::f32, {rows, model.columns()});
  float* to = y.mutable_data<float>();
  std::vector<std::int64_t> chosen;
  std::vector<double> scores;
  for (std::int64_t r = 0; r < rows; ++r) {
    chosen.push_back(judge(model, x.data() + r * columns, scores));
    to = std::transform(scores.begin(), scores.end(), to, [](double s) { return static_cast<float>(s); });
  }
  call.give(0, ops::picked(model.labels, chosen));
  call.give(1, y);
}

}  // namespace

OpDef op_svm_classifier() {
  return {.name = "SVMClassifier",
          .min_outputs = 1,
          .max_outputs = 2,
          .types = "f32|f64|i32|i64 -> string|i64, f32",
          .attributes = {{"kernel_type", "LINEAR"}, {"post_transform", "NONE"}},
          .optional_attributes = "classlabels_ints: ints, classlabels_strings: strings, coefficients: floats, kernel_params: floats, "
                                 "prob_a: floats, prob_b: floats, rho: floats, support_vectors: floats, vectors_per_class: ints",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "kernels of support vectors are computed by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
