// WindowStitcher: windows in their order, and planes to sinks as soon as no later window touches them.
#include <algorithm>

#include "base/check.h"
#include "sweep/output.h"
#include "windows/row_kernels.h"
#include "windows/weights.h"

namespace tenfold {

struct WindowStitcher::Impl {
  Impl(const SlidingWindow& of, std::int64_t number, MakeSink make, const StitchOptions& options)
      : windows(of),
        own(windows::WindowAccess::of(windows)),
        common(own, number, options),
        total(number * windows.count()),
        make_sink(std::move(make)),
        pool(windows::make_parallel(options.threads)) {
    group = windows.count() / static_cast<std::int64_t>(own.grid[0].starts.size());
  }

  imaging::Output make_output(std::size_t number, const Tensor& given);
  std::vector<std::vector<float>> weights_of_outputs(std::span<const Tensor> given,
                                                     const std::vector<float>& map) const;
  void check_batch(std::span<const Tensor> given) const;
  void add_group(std::span<const Tensor> given, std::int64_t first, std::int64_t count);

  SlidingWindow windows;
  const windows::WindowState& own;
  imaging::OutputOptions common;
  std::int64_t total, next = 0;
  MakeSink make_sink;
  std::unique_ptr<Parallel> pool;
  std::int64_t group;                // windows that begin at one plane
  std::vector<imaging::Output> outputs;
  std::vector<std::vector<float>> usual_weights;
  std::vector<std::vector<float>> given_weights;   // of the present add(), by output; empty: the usual ones
};

// Weights of the first call, where it has some, divide.
imaging::Output WindowStitcher::Impl::make_output(std::size_t number, const Tensor& given) {
  const Shape& shape = given.shape();
  require(shape.size() == own.image.size() + 2, ErrorKind::invalid_argument, "output ", number, " is [", text(shape),
          "], expected [windows, channel, ", own.image.size(), " spatial axes]");
  require(windows::row_to_f32(given.dtype()) != nullptr, ErrorKind::invalid_argument, "output ", number,
          " has elements of type ", name(given.dtype()), ", expected f32, f16, bf16, f64 or integers");
  for (std::size_t a = 1; a < shape.size(); ++a)
    require(shape[a] > 0, ErrorKind::invalid_argument, "output ", number, " is [", text(shape), "]: axis ", a,
            " is empty");
  const Shape window(shape.begin() + 1, shape.end());
  const std::vector<float>& divisor = given_weights.empty() ? usual_weights[number] : given_weights[number];
  return {common, imaging::output_axes(own.grid, window, common.lifted), window, divisor, make_sink(number)};
}

// Weights for each output. Those of another resolution come from those of the output before that was resized, as MONAI
// has it.
std::vector<std::vector<float>> WindowStitcher::Impl::weights_of_outputs(std::span<const Tensor> given,
                                                                         const std::vector<float>& map) const {
  std::vector<std::vector<float>> all;
  std::vector<float> resized = map;
  Shape resized_roi = own.roi;
  for (const Tensor& one : given) {
    const Shape roi(one.shape().begin() + std::min(one.rank(), 2), one.shape().end());
    const bool same =
        map.empty() || roi == own.roi || roi.size() != own.roi.size();  // make_output() refuses another rank
    if (!same) resized = windows::resize_weights(resized, resized_roi, roi), resized_roi = roi;
    all.push_back(same ? map : resized);
  }
  return all;
}

void WindowStitcher::Impl::check_batch(std::span<const Tensor> given) const {
  require(given.size() == outputs.size(), ErrorKind::invalid_argument, "the predictor gave ", given.size(),
          " outputs, in the first call ", outputs.size());
  const std::int64_t batch = given[0].rank() > 0 ? given[0].shape()[0] : 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Shape expected = {batch};
    expected.insert(expected.end(), outputs[i].window().begin(), outputs[i].window().end());
    require(given[i].shape() == expected, ErrorKind::invalid_argument, "output ", i, " is [", text(given[i].shape()),
            "], expected [", text(expected), "]");
  }
  require(next + batch <= total, ErrorKind::invalid_argument, "predictions of ", batch, " windows after ", next,
          ": the images have ", total);
}

// Windows of one image that begin at one plane: `first` is counted from the beginning, and `given` begins at `next`.
void WindowStitcher::Impl::add_group(std::span<const Tensor> given, std::int64_t first, std::int64_t count) {
  const std::int64_t image = first / windows.count(), window = first % windows.count();
  const std::int64_t row = window / group, end = window + count;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    imaging::Output& output = outputs[i];
    const Tensor& tensor = given[i];
    const std::int64_t bytes = byte_size(tensor.dtype(), element_count(output.window()));
    const std::vector<float>& weights = given_weights.empty() ? usual_weights[i] : given_weights[i];
    std::vector<windows::Prediction> predictions;
    for (std::int64_t w = window; w < end; ++w)
      predictions.push_back({static_cast<const std::byte*>(tensor.raw()) + (first - next + w - window) * bytes,
                             windows::indices(own.grid, w)});
    output.add(image, predictions, tensor.dtype(), weights.empty() ? nullptr : weights.data(), *pool);
    if (end < (row + 1) * group) continue;
    if (static_cast<std::size_t>(row) + 1 == own.grid[0].starts.size()) output.finish_image(image, *pool);
    else output.finish(image, output.start(row + 1), *pool);
  }
}

WindowStitcher::WindowStitcher(const SlidingWindow& windows, std::int64_t images, MakeSink make_sink,
                               const StitchOptions& options)
    : impl_(std::make_unique<Impl>(windows, images, std::move(make_sink), options)) {}
WindowStitcher::WindowStitcher(WindowStitcher&&) noexcept = default;
WindowStitcher::~WindowStitcher() = default;

void WindowStitcher::add(std::span<const Tensor> given, const Tensor& weights) {
  Impl& impl = *impl_;
  impl.given_weights.clear();
  if (weights.defined())
    impl.given_weights = impl.weights_of_outputs(given, windows::given_weights(weights, impl.own.roi));
  if (impl.outputs.empty()) {
    require(!given.empty(), ErrorKind::invalid_argument, "the predictor gave no output");
    impl.usual_weights = impl.weights_of_outputs(given, impl.own.weights);
    for (std::size_t i = 0; i < given.size(); ++i) impl.outputs.push_back(impl.make_output(i, given[i]));
  }
  impl.check_batch(given);
  const std::int64_t end = impl.next + given[0].shape()[0];
  for (std::int64_t first = impl.next; first < end;) {
    const std::int64_t window = first % impl.windows.count();
    const std::int64_t count = std::min(end - first, impl.group - window % impl.group);
    impl.add_group(given, first, count);
    first += count;
  }
  impl.next = end;
}

std::int64_t WindowStitcher::added() const { return impl_->next; }

void WindowStitcher::finish() {
  require(impl_->next == impl_->total, ErrorKind::invalid_argument, "predictions of ", impl_->next,
          " windows were added, the images have ", impl_->total);
}

ImageSource::~ImageSource() = default;
ImageSink::~ImageSink() = default;

}  // namespace tenfold
