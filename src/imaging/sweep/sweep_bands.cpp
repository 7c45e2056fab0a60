// sweep_bands(): bands for those who sweep them by themselves.
#include <optional>

#include "base/check.h"
#include "sweep/device_bands.h"
#include "sweep/turned.h"

namespace tenfold {
namespace {

using namespace imaging;

// What bands are cut for, in the sweep's order of axes.
class TurnedShape {
 public:
  TurnedShape(const SlidingWindow& windows, const ImageSource& source, const std::vector<Shape>& outputs,
              const SweepOptions& options)
      : windows_(turned(checked(windows, source), sweep_order(windows, options))) {
    const AxisOrder order = sweep_order(windows, options);
    const windows::WindowState& own = windows::WindowAccess::of(windows_);
    const Shape shape = source.shape();
    std::vector<Shape> moved;
    for (const Shape& one : outputs) {
      require(one.size() == own.roi.size() + 1, ErrorKind::invalid_argument, "an output of [", text(one),
              "]: expected [channel, ", own.roi.size(), " spatial axes]");
      moved.push_back(turned(one, order));
    }
    const bool in_memory = source.memory() != nullptr && options.axis == 0;
    const std::int64_t chunk = options.axis == 0 ? source.chunk() : source.chunk_along(order[0]);
    shape_.emplace(SweepShape{own, OutputOptions(own, shape[0], turned(options, order).stitch), std::move(moved), shape[1],
                              source.dtype(), options.input, in_memory ? 0 : chunk,
                              source.overhead() + (options.axis == 0 ? 0 : 1), options.window_batch});
  }
  const SweepShape& shape() const { return *shape_; }

 private:
  static const SlidingWindow& checked(const SlidingWindow& windows, const ImageSource& source) {
    windows::check_images(windows::WindowAccess::of(windows), source.shape());
    return windows;
  }
  SlidingWindow windows_;
  std::optional<SweepShape> shape_;   // of windows_
};

}  // namespace

std::vector<std::int64_t> sweep_bands(const SlidingWindow& windows, const ImageSource& source,
                                      const std::vector<Shape>& outputs, const SweepOptions& options,
                                      std::int64_t align) {
  const TurnedShape turned_shape(windows, source, outputs, options);
  return cut_bands(turned_shape.shape(), options.memory, align);
}

std::vector<DeviceBand> sweep_bands(const SlidingWindow& windows, const ImageSource& source,
                                    const std::vector<Shape>& outputs, std::span<const double> speeds,
                                    const SweepOptions& options, std::int64_t align) {
  const TurnedShape turned_shape(windows, source, outputs, options);
  return bands_of_devices(turned_shape.shape(), speeds, options.memory, align);
}

}  // namespace tenfold
