// A ring of planes, as on CPUs. Planes that were handed on are cleared at once, so adding needs no case for the first
// window.
#include "device/device_sums.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tenfold::imaging {
namespace {

std::int64_t section_of(const std::vector<windows::OutputAxis>& axes) {
  std::int64_t voxels = 1;
  for (std::size_t a = 1; a < axes.size(); ++a) voxels *= axes[a].padded;
  return voxels;
}

}  // namespace

DeviceSums::DeviceSums(DeviceWork& work, const WindowKernels& kernels, OutputPart part,
                       const DevicePredictor::Output& output, const std::vector<float>& weights,
                       const windows::Finish& how, void* stream, Parallel& pool)
    : work_(work),
      kernels_(kernels),
      part_(std::move(part)),
      strides_(output.strides),
      axes_(part_.axes),
      four_(four_axes(axes_)),
      channels_(output.window[0]),
      section_(section_of(axes_)),
      dtype_(output.dtype),
      how_(how),
      stream_(stream),
      pool_(pool) {
  for (std::size_t a = 1; a < axes_.size(); ++a) crop_section_ *= axes_[a].crop_end - axes_[a].crop_begin;
  for (std::size_t a = 1 - lifted(); a < part_.whole.size(); ++a)
    whole_section_ *= part_.whole[a], result_section_ *= part_.extent[a];
  const std::int64_t largest = std::max(crop_section_, result_section_);
  require(largest <= kMaxVoxels && roi_voxels() <= kMaxVoxels, ErrorKind::unsupported, "planes of ", largest,
          " voxels and windows of ", roi_voxels(), ": it has kernels for ", kMaxVoxels);
  if (!part_.resampled.empty()) resampler_.emplace(work, kernels, part_.resampled, channels_, how_, stream_);
  done_ = axes_[0].starts[0];   // where a part begins
  const std::int64_t planes = axes_[0].roi, sum_bytes = channels_ * planes * section_ * std::int64_t{sizeof(float)};
  sums_ = work.allocate(sum_bytes);
  work.fill(sums_.get(), 0, sum_bytes, stream_);
  std::vector<int> starts(axes_[0].starts.begin(), axes_[0].starts.end());
  const auto copied = [&](const void* from, std::size_t count, std::size_t size) {
    std::shared_ptr<void> memory = work.allocate(static_cast<std::int64_t>(count * size));
    work.copy(memory.get(), from, static_cast<std::int64_t>(count * size), stream_);
    return memory;
  };
  starts_ = copied(starts.data(), starts.size(), sizeof(int));
  if (!weights.empty()) weights_ = copied(weights.data(), weights.size(), sizeof(float));
  not_positive_ = work.allocate(sizeof(unsigned));
  work.fill(not_positive_.get(), 0, sizeof(unsigned), stream_);
  divisors_ = work.allocate(planes * section_ * std::int64_t{sizeof(float)});
  work.fill(divisors_.get(), 0, planes * section_ * std::int64_t{sizeof(float)}, stream_);
  sum_weights();
  const std::shared_ptr<void> done = work.make_event();   // `starts` and `weights` end
  work.record(done.get(), stream_), work.wait(done.get());
}

std::int64_t DeviceSums::plane_bytes() const {
  return byte_size(how_.dtype(channels_), how_.channels(channels_) * result_section_);
}

std::int64_t DeviceSums::roi_voxels() const { return four_[0].roi * four_[1].roi * four_[2].roi * four_[3].roi; }

// Together they cover no more than their voxels.
std::int64_t DeviceSums::max_windows() const {
  return std::min<std::int64_t>(kWindowsOfAnAdd, kMaxVoxels / roi_voxels());
}

DeviceSums::Box DeviceSums::box(std::size_t axis, std::size_t index) const {
  const windows::OutputAxis& a = four_[axis];
  const bool first = index == 0, last = index + 1 == a.starts.size();
  return {static_cast<int>(first ? 0 : a.halo), static_cast<int>(a.roi - (last ? 0 : a.halo))};
}

// Of windows from indices `at` on. `all_planes`: they begin at no certain plane, so a halo of the first axis is none.
void DeviceSums::launch_add(float* sums, const void* values, std::int64_t channels,
                            const std::array<std::size_t, 4>& at, std::int64_t count, bool all_planes) {
  AddArgs args{};
  args.sums = sums, args.values = values, args.weights = static_cast<const float*>(weights_.get());
  for (std::size_t a = 0; a < 4; ++a) {
    args.roi[a] = static_cast<int>(four_[a].roi), args.padded[a] = static_cast<int>(four_[a].padded);
    if (a == 3) continue;
    const Box inside = a == 0 && all_planes ? Box{0, static_cast<int>(four_[0].roi)} : box(a, at[a]);
    args.start[a] = a == 0 && all_planes ? 0 : static_cast<int>(four_[a].starts[at[a]]);
    args.begin[a] = inside.begin, args.end[a] = inside.end;
  }
  for (std::int64_t w = 0; w < count; ++w) {
    const std::size_t index = at[3] + static_cast<std::size_t>(w);
    const Box inside = box(3, index);
    args.starts[w] = static_cast<int>(four_[3].starts[index]), args.begins[w] = inside.begin, args.ends[w] = inside.end;
  }
  four_strides(strides_, axes_.size(), args.stride);
  args.first = args.starts[0], args.span = args.starts[count - 1] + args.roi[3] - args.first;
  args.planes = args.roi[0], args.channels = static_cast<int>(channels), args.windows = static_cast<int>(count);
  args.type = window_type(dtype_);
  const std::int64_t voxels = four_[0].roi * four_[1].roi * four_[2].roi * args.span;
  work_.launch(kernels_.add.get(), {blocks_of(voxels), (channels + kChannelsOfAnAdd - 1) / kChannelsOfAnAdd, 1},
               kThreads, &args, stream_);
}

// All windows that begin at one plane, wherever that is.
void DeviceSums::sum_weights() {
  std::array<std::size_t, 4> at{};
  const auto row = static_cast<std::int64_t>(four_[3].starts.size());
  for (;;) {
    for (std::int64_t w = 0; w < row; w += max_windows()) {
      at[3] = static_cast<std::size_t>(w);
      launch_add(static_cast<float*>(divisors_.get()), nullptr, 1, at, std::min(row - w, max_windows()), true);
    }
    std::size_t a = 2;
    for (; a > 0 && ++at[a] == four_[a].starts.size(); --a) at[a] = 0;
    if (a == 0) return;
  }
}

void DeviceSums::add(const void* values, std::span<const std::size_t> at, std::int64_t count) {
  std::array<std::size_t, 4> four{};
  for (std::size_t i = 0; i < at.size(); ++i) four[i == 0 ? 0 : 4 - at.size() + i] = at[i];
  launch_add(static_cast<float*>(sums_.get()), values, channels_, four, count, false);
}

void DeviceSums::open(std::shared_ptr<ImageSink> sink, std::int64_t images, bool opened) {
  sink_ = std::move(sink);
  image_ = {images, how_.channels(channels_)};
  image_.insert(image_.end(), part_.whole.begin(), part_.whole.end());
  if (!opened) sink_->open(how_.dtype(channels_), image_);
}

void DeviceSums::clear(std::int64_t begin, std::int64_t end) {
  const std::int64_t planes = axes_[0].roi, plane = section_ * std::int64_t{sizeof(float)};
  begin = std::max(begin, end - planes);
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t slot = at % planes, run = std::min(end - at, planes - slot);
    for (std::int64_t c = 0; c < channels_; ++c)
      work_.fill(static_cast<std::byte*>(sums_.get()) + (c * planes + slot) * plane, 0, run * plane, stream_);
    at += run;
  }
}

// Planes [first, first + count) of the cropped output, the first of them at `to`.
void DeviceSums::finish(const windows::Finish& how, void* to, std::int64_t channel_stride, std::int64_t plane_stride,
                        std::int64_t first, std::int64_t count) {
  FinishArgs args{};
  args.sums = static_cast<const float*>(sums_.get()), args.divisors = static_cast<const float*>(divisors_.get());
  args.starts = static_cast<const int*>(starts_.get()), args.not_positive = static_cast<unsigned*>(not_positive_.get());
  args.to = to, args.channel_stride = channel_stride, args.plane_stride = plane_stride;
  for (std::size_t a = 0; a < 4; ++a) {
    args.padded[a] = static_cast<int>(four_[a].padded), args.crop_begin[a] = static_cast<int>(four_[a].crop_begin);
    args.crop[a] = static_cast<int>(four_[a].crop_end - four_[a].crop_begin);
  }
  const windows::OutputAxis& axis = four_[0];
  const std::int64_t begin = axis.crop_begin + first, end = begin + count;
  args.crop_begin[0] = static_cast<int>(begin), args.crop[0] = static_cast<int>(count);
  args.planes = args.roi = static_cast<int>(axis.roi), args.halo = static_cast<int>(axis.halo);
  args.windows = static_cast<int>(axis.starts.size());
  args.first_window = static_cast<int>(std::upper_bound(axis.starts.begin(), axis.starts.end(), begin - axis.roi) -
                                       axis.starts.begin());
  args.end_window = static_cast<int>(std::lower_bound(axis.starts.begin(), axis.starts.end(), end) - axis.starts.begin());
  args.ending = ending_of(how, channels_);
  work_.launch(kernels_.finish.get(), {blocks_of(count * crop_section_), 1, 1}, kThreads, &args, stream_);
}

// Where the part's plane begins in the whole result, in elements.
std::int64_t DeviceSums::place(std::int64_t image, std::int64_t channel, std::int64_t plane) const {
  const std::size_t row = 1 - lifted();
  const std::int64_t first = lifted() != 0 ? 0 : part_.begin[0], row_voxels = whole_section_ / part_.whole[row];
  const std::int64_t before = (image * image_[1] + channel) * whole_planes() + first + plane;
  return before * whole_section_ + part_.begin[row] * row_voxels;
}

void DeviceSums::deliver(std::int64_t image, std::int64_t first, std::int64_t count, const std::byte* from) const {
  const DType dtype = how_.dtype(channels_);
  const std::int64_t plane = byte_size(dtype, result_section_);
  if (void* const memory = sink_->memory()) {
    const bool whole = result_section_ == whole_section_;
    for (std::int64_t c = 0; c < image_[1]; ++c)
      for (std::int64_t z = 0; z < count; z += whole ? count : 1)
        copy_in_parts(pool_, static_cast<std::byte*>(memory) + byte_size(dtype, place(image, c, first + z)),
                      from + (c * count + z) * plane, (whole ? count : 1) * plane);
    return;
  }
  Shape begin = part_.begin, extent = part_.extent;
  if (lifted() == 0) begin[0] += first, extent[0] = count;   // else it is a line
  sink_->write(image, begin, extent, from);
}

// Planes [first, first + count) of the part's results, the first of them at `to`.
void DeviceSums::produce(void* to, std::int64_t channel_stride, std::int64_t plane_stride, std::int64_t first,
                         std::int64_t count) {
  if (resampler_) resampler_->finish(to, channel_stride, plane_stride, first, count);
  else finish(how_, to, channel_stride, plane_stride, first, count);
}

// Planes [first, last) of an image, where they are to stay.
void DeviceSums::finish_in_place(void* memory, std::int64_t image, std::int64_t first, std::int64_t last) {
  const std::int64_t at_once = kMaxVoxels / result_section_;
  for (; first < last; first += at_once)
    produce(static_cast<std::byte*>(memory) + byte_size(how_.dtype(channels_), place(image, 0, first)),
            whole_planes() * whole_section_, whole_section_, first, std::min(at_once, last - first));
}

// The same by way of the outbox.
void DeviceSums::send(Outbox& outbox, std::int64_t image, std::int64_t first, std::int64_t last) {
  const std::int64_t at_once = std::max<std::int64_t>(1, outbox.bytes() / plane_bytes());
  for (std::int64_t at = first; at < last; at += at_once) {
    const std::int64_t count = std::min(at_once, last - at);
    produce(outbox.begin(), count * result_section_, result_section_, at, count);
    outbox.end(count * plane_bytes(), stream_,
               [this, image, at, count](const std::byte* from) { deliver(image, at, count, from); });
  }
}

void DeviceSums::hand_on(Outbox& outbox, std::int64_t image, std::int64_t first, std::int64_t last) {
  if (result_section_ == 0) return;   // an output may have no row in a band
  if (void* const memory = sink_->gpu_memory()) finish_in_place(memory, image, first, last);
  else send(outbox, image, first, last);
}

void DeviceSums::flush(Outbox& outbox, std::int64_t image, std::int64_t end) {
  const windows::OutputAxis& axis = axes_[0];
  const std::int64_t first = std::clamp(done_, axis.crop_begin, axis.crop_end) - axis.crop_begin,
                     last = std::clamp(end, axis.crop_begin, axis.crop_end) - axis.crop_begin;
  const bool ends = end == axis.padded;
  if (!resampler_) hand_on(outbox, image, first, last);
  else
    for (std::int64_t z = first; z < last; ++z) {   // one plane of means at a time, and those of the grid before it
      finish({}, resampler_->plane(z), resampler_->channel_stride(), crop_section_, z, 1);
      const std::int64_t ready = resampler_->ready(z);
      hand_on(outbox, image, resampler_->done(), ready);
      resampler_->set_done(ready);
    }
  if (resampler_ && ends) resampler_->set_done(0);
  clear(done_, end);
  done_ = ends ? axis.starts[0] : end;
}

void DeviceSums::check_divisors() {
  unsigned found = 0;
  const std::shared_ptr<void> done = work_.make_event(), pinned = work_.allocate_pinned(sizeof found);
  work_.copy(pinned.get(), not_positive_.get(), sizeof found, stream_);
  work_.record(done.get(), stream_), work_.wait(done.get());
  std::memcpy(&found, pinned.get(), sizeof found);
  require(found == 0, ErrorKind::invalid_argument, windows::kNotPositive);
}

}  // namespace tenfold::imaging
