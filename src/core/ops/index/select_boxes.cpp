// SelectBoxes: of boxes with a score for each class the best, without those that overlap a better one too much, at most so many for each
// image: results of a fixed size, filled up behind the last. It is what the NMS plug-ins of TensorRT compute (onnx_ops/tensorrt).
//
// Operands: boxes [images, boxes, 1 or classes, 4] as two corners; scores [images, boxes, classes].
// Results: how many [images, 1]; boxes [images, max_boxes, 4]; scores, classes, numbers of boxes [images, max_boxes].
#include <algorithm>
#include <cmath>

#include "base/types/element.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"
#include "ops/index/boxes.h"

namespace tenfold::ir {
namespace {

constexpr std::int64_t kMax = std::int64_t{1} << 24;

void infer(InferCall& call) {
  const Attributes& a = call.attributes();
  const std::int64_t max = a.integer("max_boxes");
  call.validate(max >= 1 && max <= kMax, "max_boxes is ", max, ", 1 to ", kMax, " expected");
  call.validate(a.integer("candidates") >= 0, "candidates is ", a.integer("candidates"));
  call.check_shape(call.rank(0) == 4 && call.rank(1) == 3, "boxes and scores have ranks ", call.rank(0), " and ", call.rank(1),
                   ", 4 and 3 expected");
  const Dims &boxes = call.dims(0), &scores = call.dims(1);
  call.check_shape(!boxes[3].is_constant() || boxes[3] == Dim(4), "boxes have ", boxes[3].text(), " coordinates, 4 expected");
  call.check_shape(!boxes[2].is_constant() || boxes[2] == Dim(1) || !scores[2].is_constant() || boxes[2] == scores[2],
                   "there are boxes for ", boxes[2].text(), " classes and scores for ", scores[2].text());
  const Dim images = ops::same_extent(call, boxes[0], scores[0], "images");
  ops::same_extent(call, boxes[1], scores[1], "boxes");
  call.out(0, DType::i32, {images, 1});
  call.out(1, call.dtype(0), {images, max, 4});
  call.out(2, call.dtype(1), {images, max});
  call.out(3, DType::i32, {images, max});
  call.out(4, DType::i32, {images, max});
}

struct Candidate {
  double score;
  std::int64_t box, kind;   // kind: the class
};
using ops::Corners;

class Selection {
 public:
  explicit Selection(Call& call)
      : call_(call), a_(call.attributes()), boxes_(call.in[1].shape[1]), kinds_(call.in[1].shape[2]), of_each_(call.in[0].shape[2]),
        inclusive_(a_.integer("inclusive") != 0), border_(a_.number("border")), border_of_overlap_(a_.number("border_of_overlap")) {}

  // In the order of their scores; of equal ones the first box, or where classes have their own limits the first class, comes first.
  std::vector<Candidate> candidates(std::int64_t image) const {
    const bool by_kind = a_.integer("per_class") != 0;
    const double least = static_cast<double>(a_.number("score_threshold"));
    const auto limit = static_cast<std::size_t>(a_.integer("candidates"));
    const auto better = [](const Candidate& a, const Candidate& b) { return a.score > b.score; };
    std::vector<Candidate> all, of_kind;
    const auto best = [&](std::vector<Candidate>& list) {
      std::stable_sort(list.begin(), list.end(), better);
      if (limit > 0 && list.size() > limit) list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
    };
    const auto look = [&](std::int64_t box, std::int64_t kind, std::vector<Candidate>& list) {
      if (kind == a_.integer("background")) return;
      const double score = load_double(call_.in[1].dtype, call_.in[1].data, (image * boxes_ + box) * kinds_ + kind);
      if (inclusive_ ? score >= least : score > least) list.push_back({score, box, kind});
    };
    for (std::int64_t kind = 0; by_kind && kind < kinds_; ++kind) {
      of_kind.clear();
      for (std::int64_t box = 0; box < boxes_; ++box) look(box, kind, of_kind);
      best(of_kind);
      all.insert(all.end(), of_kind.begin(), of_kind.end());
    }
    for (std::int64_t i = 0; !by_kind && i < boxes_ * kinds_; ++i) look(i / kinds_, i % kinds_, all);
    by_kind ? std::stable_sort(all.begin(), all.end(), better) : best(all);
    return all;
  }

  // A box that its class has no room for still suppresses others.
  std::vector<Candidate> chosen(std::int64_t image) const {
    const bool agnostic = a_.integer("agnostic") != 0;
    const std::int64_t of_class = a_.integer("max_per_class");
    const auto max = static_cast<std::size_t>(a_.integer("max_boxes"));
    std::vector<std::vector<Corners>> kept(static_cast<std::size_t>(agnostic ? 1 : kinds_));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(kinds_));
    std::vector<Candidate> result;
    for (const Candidate& c : candidates(image)) {
      if (result.size() == max) break;
      const Corners box = ops::sorted_corners(corners(image, c));
      std::vector<Corners>& others = kept[agnostic ? 0 : static_cast<std::size_t>(c.kind)];
      if (std::any_of(others.begin(), others.end(), [&](const Corners& other) { return overlaps(other, box); })) continue;
      others.push_back(box);
      if (of_class < 0 || counts[static_cast<std::size_t>(c.kind)]++ < of_class) result.push_back(c);
    }
    return result;
  }

  std::int64_t place(std::int64_t image, const Candidate& c) const {
    return (image * boxes_ + c.box) * of_each_ + (of_each_ == 1 ? 0 : c.kind);
  }

 private:
  Corners corners(std::int64_t image, const Candidate& c) const {
    Corners box;
    for (std::size_t i = 0; i < 4; ++i)
      box[i] = load_double(call_.in[0].dtype, call_.in[0].data, place(image, c) * 4 + static_cast<std::int64_t>(i));
    return box;
  }
  bool overlaps(const Corners& a, const Corners& b) const {
    const double share = ops::overlap(a, b, border_, border_of_overlap_), most = a_.number("iou_threshold");
    return inclusive_ ? share >= most : share > most;
  }

  Call& call_;
  const Attributes& a_;
  std::int64_t boxes_, kinds_, of_each_;
  bool inclusive_;
  double border_, border_of_overlap_;
};

void reference(Call& call) {
  const Shape &boxes = call.in[0].shape, &scores = call.in[1].shape;
  call.check_shape(boxes[0] == scores[0] && boxes[1] == scores[1] && boxes[3] == 4 && (boxes[2] == 1 || boxes[2] == scores[2]),
                   "boxes of shape ", text(boxes), " do not fit scores of shape ", text(scores));
  const Selection selection(call);
  const std::int64_t max = call.attributes().integer("max_boxes");
  std::fill_n(call.out[3].as<std::int32_t>(), call.out[3].size(), static_cast<std::int32_t>(call.attributes().integer("empty_class")));
  std::fill_n(call.out[4].as<std::int32_t>(), call.out[4].size(), 0);
  for (const std::size_t o : {std::size_t{1}, std::size_t{2}})
    for (std::int64_t i = 0; i < call.out[o].size(); ++i)
      store_double(call.out[o].dtype, call.out[o].data, i, 0);
  for (std::int64_t image = 0; image < scores[0]; ++image) {
    std::int64_t at = image * max;
    for (const Candidate& c : selection.chosen(image)) {
      for (std::int64_t i = 0; i < 4; ++i)
        store_double(call.out[1].dtype, call.out[1].data, at * 4 + i,
                     load_double(call.in[0].dtype, call.in[0].data, selection.place(image, c) * 4 + i));
      store_double(call.out[2].dtype, call.out[2].data, at, c.score);
      call.out[3].as<std::int32_t>()[at] = static_cast<std::int32_t>(c.kind);
      call.out[4].as<std::int32_t>()[at++] = static_cast<std::int32_t>(c.box);
    }
    call.out[0].as<std::int32_t>()[image] = static_cast<std::int32_t>(at - image * max);
  }
}

}  // namespace

OpDef op_select_boxes() {
  return {.name = "SelectBoxes",
          .min_inputs = 2,
          .max_inputs = 2,
          .min_outputs = 5,
          .max_outputs = 5,
          .types = "T, U -> i32, T, U, i32, i32; T: float; U: float",
          .attributes = {{"agnostic", 0}, {"background", -1}, {"border", 0.0f}, {"border_of_overlap", 0.0f}, {"candidates", 0},
                         {"empty_class", 0}, {"inclusive", 1}, {"iou_threshold", 0.5f}, {"max_boxes", 100}, {"max_per_class", -1},
                         {"per_class", 0}, {"score_threshold", 0.5f}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,6,1,4](0,4) f32[2,6,3](0,1) max_boxes=5 iou_threshold=0.3 score_threshold=0.2",
                    "f32[1,6,2,4](0,4) f32[1,6,2](0,1) max_boxes=8 max_per_class=2 agnostic=1 background=0 score_threshold=0.1",
                    "f16[1,6,2,4](0,4) f16[1,6,2](0,1) max_boxes=8 per_class=1 candidates=3 inclusive=0 empty_class=-1 border=1.0 "
                    "border_of_overlap=1.0",
                    "f32[1,0,1,4] f32[1,0,3] max_boxes=2"},
          .on_host = "there is no kernel yet"};
}

}  // namespace tenfold::ir
