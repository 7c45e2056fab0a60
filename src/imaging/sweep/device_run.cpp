// Windows are cut and added with the network's strides, so nothing is moved there; images and results are turned by the
// host.
#include "sweep/device_run.h"

#include "sweep/requested_parts.h"

namespace tenfold::imaging {
namespace {

std::vector<Part> parts_of(const SlidingWindow& windows, ImageSource& source, const DevicePredictor& predictor,
                           const SweepOptions& options) {
  const windows::WindowState& own = windows::WindowAccess::of(windows);
  const Shape shape = source.shape();
  const OutputOptions outputs(own, shape[0], options.stitch);
  const std::vector<Part> parts = requested_parts(own, outputs, options, [&] {
    std::vector<Shape> shapes;
    for (const DevicePredictor::Output& one : predictor.outputs()) shapes.push_back(one.window);
    const std::int64_t chunk = source.gpu_memory() != nullptr ? 0 : source.memory() != nullptr ? 1 : source.chunk();
    return SweepShape{own,   outputs,           shapes,           shape[1], source.dtype(), predictor.inputs()[0].dtype,
                      chunk, source.overhead(), predictor.batch()};
  });
  log_bands(own.grid, outputs, options, parts);
  return parts;
}

}  // namespace

Shape strides_in_order(const Shape& window, const AxisOrder& order) {
  return in_order(dense_strides(Shape(window.end() - static_cast<std::ptrdiff_t>(order.size()), window.end())), order);
}

DeviceRun::DeviceRun(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, DevicePredictor& predictor,
                     const SweepOptions& options)
    : order_(sweep_order(windows, options)),
      turned_(options.axis != 0),
      windows_(turned_ ? turned(windows, order_) : windows),
      turned_source_(source, order_),
      options_(turned_ ? turned(options, order_) : options) {
  ImageSource& own = turned_ ? turned_source_ : source;
  sweep_ = std::make_unique<DeviceSweep>(work, windows_, own, predictor, parts_of(windows_, own, predictor, options_),
                                         options_);
}

void DeviceRun::run(const MakeSink& sinks) {
  if (!turned_) return sweep_->run(sinks);
  sweep_->run([&](std::size_t output) { return std::make_shared<TurnedSink>(sinks(output), order_); });
}

}  // namespace tenfold::imaging
