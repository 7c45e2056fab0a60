// NonMaxSuppression: for each batch entry and class the best boxes, without those that overlap a better one too much.
#include <algorithm>
#include <limits>

#include "base/types/element.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"
#include "ops/index/boxes.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 3 && call.rank(1) == 3, "boxes and scores have ranks ", call.rank(0), " and ", call.rank(1),
                   ", 3 expected");
  call.check_shape(!call.dims(0)[2].is_constant() || call.dims(0)[2] == Dim(4), "boxes have ", call.dims(0)[2].text(),
                   " coordinates, 4 expected");
  Dim max = call.dims(0)[1];
  const ops::MaybeDim limit = call.has(2) ? ops::scalar_contents(call, 2) : ops::MaybeDim{true, 0};
  const ops::DimRules rules(call);
  if (limit.known) max = rules.smaller(max, rules.not_negative(limit.value));
  call.out(0, DType::i64, {call.new_symbol("count", 0, call.dims(1)[0] * call.dims(1)[1] * max), 3});
}

using ops::Corners;

// f(i, element first + i) for i < count.
template <class F>
void for_doubles(const TensorRef& tensor, std::int64_t first, std::int64_t count, F&& f) {
  if (tensor.dtype == DType::f32) {
    const float* const from = tensor.as<const float>() + first;
    for (std::int64_t i = 0; i < count; ++i) f(i, static_cast<double>(from[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) f(i, load_double(tensor.dtype, tensor.data, first + i));
  }
}

Corners box_at(const TensorRef& boxes, std::int64_t number, bool center) {
  Corners c;
  for_doubles(boxes, number * 4, 4, [&](std::int64_t i, double x) { c[static_cast<std::size_t>(i)] = x; });
  if (center) return {c[1] - c[3] / 2, c[0] - c[2] / 2, c[1] + c[3] / 2, c[0] + c[2] / 2};
  return ops::sorted_corners(c);
}

double scalar(const Call& call, std::size_t i, double otherwise) {
  call.check_shape(!call.has(static_cast<int>(i)) || call.in[i].size() > 0, "operand ", i, " is no single number");
  return call.has(static_cast<int>(i)) ? load_double(call.in[i].dtype, call.in[i].data, 0) : otherwise;
}

struct Limits {
  std::size_t count;
  double overlap, score;   // at most, above
};

struct Candidate {
  double score;
  std::int64_t box;
  bool operator<(const Candidate& other) const {   // worse
    return (score < other.score) | ((score == other.score) & (box > other.box));
  }
};

// The chosen boxes of one class, best first.
std::vector<std::int64_t> select(const std::vector<Corners>& boxes, const TensorRef& scores, std::int64_t row, const Limits& limits) {
  const auto count = static_cast<std::int64_t>(boxes.size());
  std::vector<Candidate> candidates(boxes.size());
  std::size_t found = 0;   // without a branch: nobody can foresee which scores are high
  for_doubles(scores, row * count, count, [&](std::int64_t i, double score) {
    candidates[found] = {score, i};
    found += score > limits.score;
  });
  candidates.resize(found);
  std::make_heap(candidates.begin(), candidates.end());   // few of them are asked for
  std::vector<Corners> kept;
  std::vector<std::int64_t> chosen;
  while (!candidates.empty() && chosen.size() < limits.count) {
    std::pop_heap(candidates.begin(), candidates.end());
    const std::int64_t best = candidates.back().box;
    candidates.pop_back();
    const Corners& box = boxes[static_cast<std::size_t>(best)];
    const auto hides = [&](const Corners& better) { return !(ops::overlap(box, better) <= limits.overlap); };
    if (std::any_of(kept.begin(), kept.end(), hides)) continue;
    kept.push_back(box);
    chosen.push_back(best);
  }
  return chosen;
}

void reference(Call& call) {
  const TensorRef& scores = call.in[1];
  const std::int64_t count = scores.shape[2];
  call.check_shape(call.in[0].shape == Shape({scores.shape[0], count, 4}), "boxes of shape ", text(call.in[0].shape),
            " do not fit scores of shape ", text(scores.shape));
  const Limits limits{static_cast<std::size_t>(std::clamp(scalar(call, 2, 0), 0.0, static_cast<double>(count))), scalar(call, 3, 0),
                      scalar(call, 4, -std::numeric_limits<double>::infinity())};
  const bool center = call.attributes().integer("center_point_box") != 0;
  Ints rows;
  std::vector<Corners> boxes;
  ops::for_each_index({scores.shape[0], scores.shape[1]}, [&](const Shape& index, std::int64_t row) {
    if (index[1] == 0) {
      boxes.clear();
      for (std::int64_t i = 0; i < count; ++i) boxes.push_back(box_at(call.in[0], index[0] * count + i, center));
    }
    for (std::int64_t box : select(boxes, scores, row, limits)) rows.insert(rows.end(), {index[0], index[1], box});
  });
  ops::set_output_shape(call, 0, {static_cast<std::int64_t>(rows.size()) / 3, 3});
  std::copy(rows.begin(), rows.end(), call.out[0].as<std::int64_t>());
}

}  // namespace

OpDef op_non_max_suppression() {
  return {.name = "NonMaxSuppression",
          .min_inputs = 2,
          .max_inputs = 5,
          .types = "float, float, int, float, float -> i64",
          .attributes = {{"center_point_box", 0}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 10,
          .cases = {"f32[1,6,4](0,4) f32[1,2,6] i64[1]{3} f32[1]{0.5} f32[1]{0}",
                    "f32[2,5,4](0,4) f32[2,1,5] i64[1]{2} f32[1]{0.3} center_point_box=1", "f32[1,4,4](0,1) f32[1,1,4]"},
          .on_host = "the host needs the size of the result"};
}

}  // namespace tenfold::ir
