// Windows in their order, and planes to sinks as soon as no later window touches them.
#include "sweep/stitcher.h"

#include <algorithm>

#include "base/check.h"
#include "base/threads/cpu_count.h"
#include "windows/row_kernels.h"
#include "windows/weights.h"

namespace tenfold::imaging {

Stitcher::Stitcher(const SlidingWindow& windows, OutputOptions options, const Part& part, MakeSink make_sink,
                   int threads)
    : windows_(windows),
      own_(windows::WindowAccess::of(windows_)),
      options_(std::move(options)),
      part_(part),
      grid_(part_grid(own_.grid, part)),
      per_image_(windows::count(grid_)),
      group_(per_image_ / static_cast<std::int64_t>(grid_[0].starts.size())),
      total_(options_.images * per_image_),
      make_sink_(std::move(make_sink)),
      threads_(threads) {
  check_threads(threads_, "sliding windows");
}

// Weights of the first call, where it has some, divide.
Output Stitcher::make_output(std::size_t number, const Tensor& given) {
  const Shape& shape = given.shape();
  require(shape.size() == own_.image.size() + 2, ErrorKind::invalid_argument, "output ", number, " is [", text(shape),
          "], expected [windows, channel, ", own_.image.size(), " spatial axes]");
  require(windows::row_to_f32(given.dtype()) != nullptr, ErrorKind::invalid_argument, "output ", number,
          " has elements of type ", name(given.dtype()), ", expected f32, f16, bf16, f64 or integers");
  for (std::size_t a = 1; a < shape.size(); ++a)
    require(shape[a] > 0, ErrorKind::invalid_argument, "output ", number, " is [", text(shape), "]: axis ", a,
            " is empty");
  const Shape window(shape.begin() + 1, shape.end());
  const std::vector<float>& divisor = given_weights_.empty() ? usual_weights_[number] : given_weights_[number];
  return {options_, output_part(own_.grid, options_, window, part_), window, divisor, make_sink_(number)};
}

void Stitcher::check_batch(std::span<const Tensor> given) const {
  require(given.size() == outputs_.size(), ErrorKind::invalid_argument, "the predictor gave ", given.size(),
          " outputs, in the first call ", outputs_.size());
  const std::int64_t batch = given[0].rank() > 0 ? given[0].shape()[0] : 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Shape expected = {batch};
    expected.insert(expected.end(), outputs_[i].window().begin(), outputs_[i].window().end());
    require(given[i].shape() == expected, ErrorKind::invalid_argument, "output ", i, " is [", text(given[i].shape()),
            "], expected [", text(expected), "]");
  }
  require(next_ + batch <= total_, ErrorKind::invalid_argument, "predictions of ", batch, " windows after ", next_,
          ": the images have ", total_);
}

// Windows of one image: `first` is counted from the beginning, and `given` begins at `next_`. Where sums lie in place, all
// at once; else those that begin at one plane.
void Stitcher::add_to(std::size_t number, const Tensor& given, std::int64_t first, std::int64_t count) {
  Output& output = outputs_[number];
  const std::int64_t image = first / per_image_, begin = first % per_image_, end = begin + count;
  const std::int64_t bytes = byte_size(given.dtype(), element_count(output.window()));
  const std::vector<float>& weights = given_weights_.empty() ? usual_weights_[number] : given_weights_[number];
  const auto* values = static_cast<const std::byte*>(given.raw()) + (first - next_) * bytes;
  for (std::int64_t window = begin, some = 0; window < end; window += some, values += some * bytes) {
    some = output.in_place() ? count : std::min(end - window, group_ - window % group_);
    output.add(image, {window, some, values, given.dtype()}, weights.empty() ? nullptr : weights.data(), *pool_);
    if ((window + some) % group_ != 0) continue;
    const std::int64_t place = (window + some) / group_;
    if (static_cast<std::size_t>(place) == grid_[0].starts.size()) output.finish_image(image, *pool_);
    else output.finish(image, output.start(place), *pool_);
  }
}

void Stitcher::add(std::span<const Tensor> given, const Tensor& weights) {
  std::vector<Shape> rois;   // make_output() refuses another rank
  for (const Tensor& one : given)
    rois.emplace_back(one.shape().begin() + std::min(one.rank(), 2), one.shape().end());
  given_weights_.clear();
  if (weights.defined())
    given_weights_ = windows::weights_of_outputs(windows::given_weights(weights, own_.roi), own_.roi, rois);
  if (outputs_.empty()) {
    require(!given.empty(), ErrorKind::invalid_argument, "the predictor gave no output");
    usual_weights_ = windows::weights_of_outputs(own_.weights, own_.roi, rois);
    for (std::size_t i = 0; i < given.size(); ++i) outputs_.push_back(make_output(i, given[i]));
    std::int64_t elements = 0;
    for (const Tensor& one : given) elements += one.size();
    pool_ = windows::make_parallel(threads_, elements);
  }
  check_batch(given);
  const std::int64_t end = next_ + given[0].shape()[0];
  for (std::int64_t first = next_; first < end;) {
    const std::int64_t count = std::min(end - first, per_image_ - first % per_image_);
    for (std::size_t i = 0; i < given.size(); ++i) add_to(i, given[i], first, count);
    first += count;
  }
  next_ = end;
}

void Stitcher::finish() const {
  require(next_ == total_, ErrorKind::invalid_argument, "predictions of ", next_,
          " windows were added, the images have ", total_);
}

}  // namespace tenfold::imaging
