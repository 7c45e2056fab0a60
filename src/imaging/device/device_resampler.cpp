// Tables of places and weights go to the GPU once.
#include "device/device_resampler.h"

namespace tenfold::imaging {

Ending ending_of(const windows::Finish& how, std::int64_t channels) {
  Ending ending{};
  ending.channels = static_cast<int>(channels), ending.activation = static_cast<int>(how.activation);
  ending.reduction = static_cast<int>(how.reduction), ending.type = window_type(how.dtype(channels));
  ending.threshold = how.threshold;
  return ending;
}

DeviceResampler::DeviceResampler(DeviceWork& work, const WindowKernels& kernels,
                                 std::vector<windows::ResampleAxis> axes, std::int64_t channels,
                                 const windows::Finish& how, void* stream)
    : work_(work),
      kernels_(kernels),
      axes_(windows::four_resample_axes(std::move(axes))),
      ending_(ending_of(how, channels)),
      stream_(stream),
      from_section_(axes_[1].from * axes_[2].from * axes_[3].from),
      means_(work.allocate(channels * 2 * from_section_ * std::int64_t{sizeof(float)})) {
  std::vector<int> places;
  std::vector<float> weights;
  for (const windows::ResampleAxis& axis : axes_) {
    places.insert(places.end(), axis.first.begin(), axis.first.end());
    places.insert(places.end(), axis.second.begin(), axis.second.end());
    weights.insert(weights.end(), axis.weight.begin(), axis.weight.end());
  }
  const auto bytes = static_cast<std::int64_t>(weights.size() * sizeof(float));
  places_ = work.allocate(2 * bytes), weights_ = work.allocate(bytes);
  work.copy(places_.get(), places.data(), 2 * bytes, stream_);
  work.copy(weights_.get(), weights.data(), bytes, stream_);
  const std::shared_ptr<void> done = work.make_event();   // `places` and `weights` end
  work.record(done.get(), stream_), work.wait(done.get());
}

void DeviceResampler::finish(void* to, std::int64_t channel_stride, std::int64_t plane_stride, std::int64_t first,
                             std::int64_t count) const {
  ResampleArgs args{};
  args.means = static_cast<const float*>(means_.get());
  const int* places = static_cast<const int*>(places_.get());
  const float* weights = static_cast<const float*>(weights_.get());
  for (std::size_t a = 0; a < 4; ++a) {
    args.first[a] = places, args.second[a] = places + extent(a), args.weights[a] = weights;
    places += 2 * extent(a), weights += extent(a);
    args.from[a] = static_cast<int>(axes_[a].from), args.results[a] = static_cast<int>(extent(a));
  }
  args.to = to, args.channel_stride = channel_stride, args.plane_stride = plane_stride;
  args.results[0] = static_cast<int>(count), args.first_plane = static_cast<int>(first);
  args.copies = axes_[3].copies ? 1 : 0, args.ending = ending_;
  work_.launch(kernels_.resample.get(), {blocks_of(count * section()), 1, 1}, kThreads, &args, stream_);
}

}  // namespace tenfold::imaging
