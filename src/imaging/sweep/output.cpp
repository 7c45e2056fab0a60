// Means become what the sink gets as soon as their plane is whole.
#include "sweep/output.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tenfold::imaging {

Output::Output(const OutputOptions& options, OutputPart part, Shape window, std::vector<float> divisor,
               std::shared_ptr<ImageSink> sink)
    : lifted_(options.lifted),
      how_(options.how),
      window_(std::move(window)),
      shape_{options.images, how_.channels(window_[0])},
      begin_(part.begin),
      extent_(part.extent),
      partial_(part.extent != part.whole),
      sums_(std::move(part.axes), window_[0], std::move(divisor)),
      sink_(std::move(sink)),
      dtype_(how_.dtype(window_[0])) {
  shape_.insert(shape_.end(), part.whole.begin(), part.whole.end());
  if (!part.resampled.empty()) resampler_.emplace(std::move(part.resampled), window_[0]);
  for (std::size_t a = 1 - lifted_; a < extent_.size(); ++a) section_ *= extent_[a];
  sink_->open(dtype_, shape_);
  in_place_ = !resampler_ && direct() && sums_.may_sum_in_place(how_);
}

void Output::add(std::int64_t image, const windows::Predictions& windows, const float* weights, Parallel& parallel) {
  if (in_place_) sums_.sum_in_place(static_cast<float*>(sink_->memory()) + image * (element_count(shape_) / shape_[0]));
  sums_.add(windows, weights, parallel);
}

void Output::finish(std::int64_t image, std::int64_t end, Parallel& parallel) {
  const windows::OutputAxis& axis = sums_.axes()[0];
  const std::int64_t first = std::clamp(done_, axis.crop_begin, axis.crop_end),
                     last = std::clamp(end, axis.crop_begin, axis.crop_end);
  if (resampler_) {
    finish_on_grid(image, first, last, parallel);
  } else {
    sums_.finish(done_, end, how_, target(image, first - axis.crop_begin, last - first), parallel);
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
    resampler_->finish(ready, how_, target(image, done, ready - done), parallel);
    hand_on(image, done, ready - done);
  }
}

// Where planes [first, first + count) of the part go.
windows::PlaneTarget Output::target(std::int64_t image, std::int64_t first, std::int64_t count) {
  if (direct()) {
    const std::int64_t voxels = element_count(shape_) / shape_[0];
    return {static_cast<std::byte*>(sink_->memory()) + byte_size(dtype_, image * voxels), voxels / shape_[1], 0};
  }
  planes_.resize(static_cast<std::size_t>(byte_size(dtype_, shape_[1] * count * section_)));
  return {planes_.data(), count * section_, first};
}

void Output::hand_on(std::int64_t image, std::int64_t first, std::int64_t count) {
  if (direct() || count * section_ == 0) return;
  Shape begin = begin_, extent = extent_;
  if (lifted_ == 0) begin[0] += first, extent[0] = count;
  if (sink_->memory() != nullptr) copy_to_memory(image, begin, extent);
  else sink_->write(image, begin, extent, planes_.data());
}

// Parts are planes and rows: from the second axis of the windows' grid on, all is contiguous.
void Output::copy_to_memory(std::int64_t image, const Shape& begin, const Shape& extent) {
  const std::size_t row = 1 - lifted_;   // the axis of rows
  const std::int64_t planes = lifted_ != 0 ? 1 : shape_[2], first = lifted_ != 0 ? 0 : begin[0],
                     count = lifted_ != 0 ? 1 : extent[0], rows = shape_[2 + row];
  const std::int64_t row_bytes = byte_size(dtype_, section_ / extent[row]), run = extent[row] * row_bytes;
  const std::byte* from = planes_.data();
  for (std::int64_t c = 0; c < shape_[1]; ++c)
    for (std::int64_t z = first; z < first + count; ++z, from += run) {
      const std::int64_t to = (((image * shape_[1] + c) * planes + z) * rows + begin[row]) * row_bytes;
      std::memcpy(static_cast<std::byte*>(sink_->memory()) + to, from, static_cast<std::size_t>(run));
    }
}

}  // namespace tenfold::imaging
