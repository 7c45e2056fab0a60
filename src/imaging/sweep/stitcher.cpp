// WindowStitcher: windows in their order, and planes to sinks as soon as no later window touches them.
#include <algorithm>

#include "base/check.h"
#include "base/threads/cpu_count.h"
#include "windows/accumulator.h"
#include "windows/window_state.h"
#include "windows/row_kernels.h"
#include "windows/weights.h"

namespace tenfold {
namespace {

// One output: its sums, where they go, and which of them are done.
struct Output {
  windows::Accumulator sums;
  Shape roi, image;                  // [channel, roi...] of a window, [image, channel, spatial...] of all
  std::shared_ptr<ImageSink> sink;
  std::vector<std::byte> planes;     // for a sink without memory
  std::vector<float> weights;        // over the roi; empty: one
  bool in_place = false;             // sums lie in the sink's memory
  std::int64_t done = 0;             // planes of the current image, in the padded output
};

std::vector<windows::OutputAxis> output_axes(const windows::Grid& grid, const Shape& roi, std::size_t lifted) {
  std::vector<windows::OutputAxis> axes;
  for (std::size_t a = 0; a < grid.size(); ++a)
    axes.push_back(windows::output_axis(grid[a], a < lifted ? 1 : roi[1 + a - lifted]));
  return axes;
}

}  // namespace

struct WindowStitcher::Impl {
  Impl(const SlidingWindow& of, std::int64_t number, MakeSink make, const StitchOptions& options)
      : windows(of),
        own(windows::WindowAccess::of(windows)),
        images(number),
        total(number * windows.count()),
        make_sink(std::move(make)),
        threads(options.threads) {
    check_threads(threads, "sliding windows");
    how.activation = options.activation, how.reduction = options.reduction,
    how.threshold = static_cast<float>(options.threshold);
    lifted = own.grid.size() - own.image.size();
    group = windows.count() / static_cast<std::int64_t>(own.grid[0].starts.size());
  }

  Output make_output(std::size_t number, const Tensor& given);
  std::vector<std::vector<float>> weights_of_outputs(std::span<const Tensor> given,
                                                     const std::vector<float>& map) const;
  void check_batch(std::span<const Tensor> given) const;
  void add_to(std::size_t number, const Tensor& given, std::int64_t first, std::int64_t count);
  void flush(Output& output, std::int64_t image, std::int64_t end);

  SlidingWindow windows;
  const windows::WindowState& own;
  std::int64_t images, total, next = 0;
  MakeSink make_sink;
  int threads;
  std::unique_ptr<Parallel> pool;    // from the first call on
  windows::Finish how;
  std::size_t lifted;                // axes that the grid has in front of the image's
  std::int64_t group;                // windows that begin at one plane
  std::vector<Output> outputs;
  std::vector<std::vector<float>> usual_weights;
  std::vector<std::vector<float>> given_weights;   // of the present add(), by output; empty: the usual ones
};

// Weights of the first call, where it has some, divide.
Output WindowStitcher::Impl::make_output(std::size_t number, const Tensor& given) {
  const Shape& shape = given.shape();
  require(shape.size() == own.image.size() + 2, ErrorKind::invalid_argument, "output ", number, " is [", text(shape),
          "], expected [windows, channel, ", own.image.size(), " spatial axes]");
  require(windows::row_to_f32(given.dtype()) != nullptr, ErrorKind::invalid_argument, "output ", number,
          " has elements of type ", name(given.dtype()), ", expected f32, f16, bf16, f64 or integers");
  for (std::size_t a = 1; a < shape.size(); ++a)
    require(shape[a] > 0, ErrorKind::invalid_argument, "output ", number, " is [", text(shape), "]: axis ", a,
            " is empty");
  const Shape window(shape.begin() + 1, shape.end());
  std::vector<windows::OutputAxis> axes = output_axes(own.grid, window, lifted);
  Shape image = {images, how.channels(shape[1])};
  for (std::size_t a = lifted; a < axes.size(); ++a) image.push_back(axes[a].crop_end - axes[a].crop_begin);
  std::vector<float>& divisor = given_weights.empty() ? usual_weights[number] : given_weights[number];
  Output output{{std::move(axes), shape[1], divisor}, window, image, make_sink(number), {}, usual_weights[number]};
  output.sink->open(how.dtype(shape[1]), image);
  output.in_place = output.sink->memory() != nullptr && output.sums.may_sum_in_place(how);
  return output;
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
    expected.insert(expected.end(), outputs[i].roi.begin(), outputs[i].roi.end());
    require(given[i].shape() == expected, ErrorKind::invalid_argument, "output ", i, " is [", text(given[i].shape()),
            "], expected [", text(expected), "]");
  }
  require(next + batch <= total, ErrorKind::invalid_argument, "predictions of ", batch, " windows after ", next,
          ": the images have ", total);
}

// Planes up to `end`, of the padded output, are finished.
void WindowStitcher::Impl::flush(Output& output, std::int64_t image, std::int64_t end) {
  const windows::OutputAxis& axis = output.sums.axes()[0];
  const std::int64_t first = std::clamp(output.done, axis.crop_begin, axis.crop_end),
                     last = std::clamp(end, axis.crop_begin, axis.crop_end);
  const DType dtype = how.dtype(output.sums.channels());
  std::int64_t section = 1;          // voxels of a plane of the image
  for (std::size_t a = 1; a < output.sums.axes().size(); ++a)
    section *= output.sums.axes()[a].crop_end - output.sums.axes()[a].crop_begin;
  const std::int64_t planes = axis.crop_end - axis.crop_begin, channels = output.image[1];
  windows::PlaneTarget target;
  if (void* const memory = output.sink->memory()) {
    target.data = static_cast<std::byte*>(memory) + byte_size(dtype, image * channels * planes * section);
    target.channel_stride = planes * section;
  } else {
    output.planes.resize(static_cast<std::size_t>(byte_size(dtype, channels * (last - first) * section)));
    target = {output.planes.data(), (last - first) * section, first - axis.crop_begin};
  }
  output.sums.finish(output.done, end, how, target, *pool);
  output.done = end;
  if (output.sink->memory() != nullptr || first == last) return;
  Shape begin(own.image.size()), extent(output.image.begin() + 2, output.image.end());
  if (lifted == 0) begin[0] = first - axis.crop_begin, extent[0] = last - first;
  output.sink->write(image, begin, extent, output.planes.data());
}

// Windows of one image: `first` is counted from the beginning, and `given` begins at `next`. Where sums lie in place, all
// at once; else those that begin at one plane.
void WindowStitcher::Impl::add_to(std::size_t number, const Tensor& given, std::int64_t first, std::int64_t count) {
  Output& output = outputs[number];
  const std::int64_t image = first / windows.count(), begin = first % windows.count(), end = begin + count;
  const std::int64_t bytes = byte_size(given.dtype(), element_count(output.roi));
  const std::vector<float>& weights = given_weights.empty() ? output.weights : given_weights[number];
  const auto* values = static_cast<const std::byte*>(given.raw()) + (first - next) * bytes;
  if (output.in_place)
    output.sums.sum_in_place(static_cast<float*>(output.sink->memory()) + image * element_count(output.image) / images);
  for (std::int64_t window = begin, some = 0; window < end; window += some, values += some * bytes) {
    some = output.in_place ? count : std::min(end - window, group - window % group);
    output.sums.add({window, some, values, given.dtype()}, weights.empty() ? nullptr : weights.data(), *pool);
    if ((window + some) % group != 0) continue;
    const windows::OutputAxis& axis = output.sums.axes()[0];
    const auto row = static_cast<std::size_t>((window + some) / group);
    const bool last = row == axis.starts.size();
    flush(output, image, last ? axis.padded : axis.starts[row]);
    if (last) output.done = 0;
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
    std::int64_t elements = 0;
    for (const Tensor& one : given) elements += one.size();
    impl.pool = windows::make_parallel(impl.threads, elements);
  }
  impl.check_batch(given);
  const std::int64_t end = impl.next + given[0].shape()[0];
  for (std::int64_t first = impl.next; first < end;) {
    const std::int64_t count = std::min(end - first, impl.windows.count() - first % impl.windows.count());
    for (std::size_t i = 0; i < given.size(); ++i) impl.add_to(i, given[i], first, count);
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
