// Means become what the sink gets as soon as their plane is whole.
#include "sweep/output.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::imaging {
namespace {

void check_grid(const Shape& grid, std::size_t interpolations, std::size_t rank) {
  require(grid.size() == rank && std::all_of(grid.begin(), grid.end(), [](std::int64_t n) { return n > 0; }),
          ErrorKind::invalid_argument, "grid [", text(grid), "]: expected ", rank,
          " extents of at least 1, one for each spatial axis of the image");
  require(interpolations == 1 || interpolations == rank, ErrorKind::invalid_argument, "interpolation has ",
          interpolations, " values, the image ", rank, " spatial axes; expected one for all of them or one for each");
}

std::vector<windows::ResampleAxis> grid_axes(const OutputOptions& options,
                                             const std::vector<windows::OutputAxis>& axes) {
  std::vector<windows::ResampleAxis> resampled;
  if (options.lifted != 0) resampled.push_back(windows::resample_axis(1, 1, GridInterpolation::nearest));
  for (std::size_t a = options.lifted; a < axes.size(); ++a) {
    const std::size_t own = a - options.lifted;
    resampled.push_back(windows::resample_axis(axes[a].crop_end - axes[a].crop_begin, options.grid[own],
                                               options.interpolation[options.interpolation.size() == 1 ? 0 : own]));
  }
  return resampled;
}

}  // namespace

OutputOptions::OutputOptions(const windows::WindowState& windows, std::int64_t number, const StitchOptions& options)
    : images(number),
      lifted(windows.grid.size() - windows.image.size()),
      how{options.activation, options.reduction, static_cast<float>(options.threshold)},
      grid(options.grid),
      interpolation(options.interpolation) {
  if (!grid.empty()) check_grid(grid, interpolation.size(), windows.image.size());
}

std::vector<windows::OutputAxis> output_axes(const windows::Grid& grid, const Shape& window, std::size_t lifted) {
  std::vector<windows::OutputAxis> axes;
  for (std::size_t a = 0; a < grid.size(); ++a)
    axes.push_back(windows::output_axis(grid[a], a < lifted ? 1 : window[1 + a - lifted]));
  return axes;
}

Output::Output(const OutputOptions& options, std::vector<windows::OutputAxis> axes, Shape window,
               std::vector<float> divisor, std::shared_ptr<ImageSink> sink)
    : options_(options),
      window_(std::move(window)),
      shape_{options.images, options.how.channels(window_[0])},
      sums_(std::move(axes), window_[0], std::move(divisor)),
      sink_(std::move(sink)),
      dtype_(options.how.dtype(window_[0])) {
  for (std::size_t a = options_.lifted; a < sums_.axes().size(); ++a)
    shape_.push_back(sums_.axes()[a].crop_end - sums_.axes()[a].crop_begin);
  if (!options_.grid.empty()) {
    resampler_.emplace(grid_axes(options_, sums_.axes()), window_[0]);
    std::copy(options_.grid.begin(), options_.grid.end(), shape_.begin() + 2);
  }
  for (std::size_t a = 1; a < shape_.size(); ++a) voxels_ *= shape_[a];
  for (std::size_t a = 3 - options_.lifted; a < shape_.size(); ++a) section_ *= shape_[a];
  sink_->open(dtype_, shape_);
  in_place_ = !resampler_ && sink_->memory() != nullptr && sums_.may_sum_in_place(options_.how);
}

void Output::add(std::int64_t image, std::span<const windows::Prediction> windows, DType dtype, const float* weights,
                 Parallel& parallel) {
  if (in_place_) sums_.sum_in_place(static_cast<float*>(sink_->memory()) + image * voxels_);
  sums_.add(windows, dtype, weights, parallel);
}

void Output::finish(std::int64_t image, std::int64_t end, Parallel& parallel) {
  const windows::OutputAxis& axis = sums_.axes()[0];
  const std::int64_t first = std::clamp(done_, axis.crop_begin, axis.crop_end),
                     last = std::clamp(end, axis.crop_begin, axis.crop_end);
  if (resampler_) {
    finish_on_grid(image, first, last, parallel);
  } else {
    sums_.finish(done_, end, options_.how, target(image, first - axis.crop_begin, last - first), parallel);
    hand_on(image, first - axis.crop_begin, last - first);
  }
  done_ = end;
}

void Output::finish_image(std::int64_t image, Parallel& parallel) {
  finish(image, sums_.axes()[0].padded, parallel);
  done_ = 0;
  if (resampler_) resampler_->begin_image();
}

// One plane of means at a time, and those of the grid that lie before it.
void Output::finish_on_grid(std::int64_t image, std::int64_t first, std::int64_t last, Parallel& parallel) {
  for (std::int64_t z = first; z < last; ++z) {
    const std::int64_t plane = z - sums_.axes()[0].crop_begin;
    sums_.finish(z, z + 1, {}, {reinterpret_cast<std::byte*>(resampler_->plane()), resampler_->section(), plane},
                 parallel);
    const std::int64_t ready = resampler_->add_plane(plane, parallel), done = resampler_->done();
    if (ready == done) continue;
    resampler_->finish(ready, options_.how, target(image, done, ready - done), parallel);
    hand_on(image, done, ready - done);
  }
}

// Where planes [first, first + count) of what is handed on go.
windows::PlaneTarget Output::target(std::int64_t image, std::int64_t first, std::int64_t count) {
  if (void* const memory = sink_->memory())
    return {static_cast<std::byte*>(memory) + byte_size(dtype_, image * voxels_), voxels_ / shape_[1], 0};
  planes_.resize(static_cast<std::size_t>(byte_size(dtype_, shape_[1] * count * section_)));
  return {planes_.data(), count * section_, first};
}

void Output::hand_on(std::int64_t image, std::int64_t first, std::int64_t count) {
  if (sink_->memory() != nullptr || count == 0) return;
  Shape begin(shape_.size() - 2), extent(shape_.begin() + 2, shape_.end());
  if (options_.lifted == 0) begin[0] = first, extent[0] = count;
  sink_->write(image, begin, extent, planes_.data());
}

}  // namespace tenfold::imaging
