// Windows and predictions are moved once more than in a sweep along the first axis; the images never exist in another
// order.
#include "sweep/turned.h"

#include "base/check.h"

namespace tenfold::imaging {
namespace {

// Axes behind the first `leading`, which stay.
AxisOrder behind(std::size_t leading, const AxisOrder& order) {
  AxisOrder all;
  for (std::size_t a = 0; a < leading; ++a) all.push_back(a);
  for (const std::size_t axis : order) all.push_back(leading + axis);
  return all;
}

// A region of a dense array [image, channel, spatial...] as [channel, spatial...].
Strided region_of(void* array, const Shape& shape, std::int64_t image, std::span<const std::int64_t> begin,
                  std::int64_t size) {
  const Shape strides = dense_strides(shape);
  std::int64_t at = image * strides[0];
  for (std::size_t a = 0; a < begin.size(); ++a) at += begin[a] * strides[2 + a];
  return {static_cast<std::byte*>(array) + at * size, Shape(strides.begin() + 1, strides.end())};
}

Shape with_channels(std::int64_t channels, std::span<const std::int64_t> extent) {
  Shape shape = {channels};
  shape.insert(shape.end(), extent.begin(), extent.end());
  return shape;
}

}  // namespace

AxisOrder sweep_order(const SlidingWindow& windows, const SweepOptions& options) {
  const std::size_t rank = windows.image().size();
  require(options.axis >= 0 && options.axis < static_cast<int>(rank), ErrorKind::invalid_argument, "axis ",
          options.axis, ": the image has ", rank, " spatial axes, expected 0 to ", rank - 1);
  return axis_first(static_cast<std::size_t>(options.axis), rank);
}

Shape turned(const Shape& shape, const AxisOrder& order) {
  return in_order(shape, behind(shape.size() - order.size(), order));
}

SlidingWindow turned(const SlidingWindow& windows, const AxisOrder& order) {
  windows::WindowState state = windows::WindowAccess::of(windows);
  const windows::WindowState& own = windows::WindowAccess::of(windows);
  const std::size_t lifted = own.grid.size() - own.image.size();
  for (std::size_t a = 0; a < order.size(); ++a) state.grid[lifted + a] = own.grid[lifted + order[a]];
  state.image = turned(own.image, order), state.roi = turned(own.roi, order);
  state.cutter = own.cutter.on(state.grid);
  Serial serial;
  if (!own.weights.empty())
    move_axes(reinterpret_cast<const std::byte*>(own.weights.data()),
              reinterpret_cast<std::byte*>(state.weights.data()), 1, own.roi, order, sizeof(float), serial);
  return windows::WindowAccess::make(windows, std::move(state));
}

SweepOptions turned(const SweepOptions& options, const AxisOrder& order) {
  SweepOptions moved = options;
  moved.axis = 0;
  StitchOptions& stitch = moved.stitch;
  if (stitch.grid.size() == order.size()) stitch.grid = turned(stitch.grid, order);   // others are refused later
  if (stitch.interpolation.size() == order.size())
    for (std::size_t a = 0; a < order.size(); ++a) stitch.interpolation[a] = options.stitch.interpolation[order[a]];
  return moved;
}

void TurnedSource::read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                        void* to) {
  const AxisOrder back = inverse(order_), all = behind(1, order_);
  const Shape from = in_order(begin, back), count = in_order(extent, back), shape = source_.shape(),
              region = with_channels(shape[1], count), moved = with_channels(shape[1], extent);
  const std::int64_t size = byte_size(source_.dtype(), 1);
  Strided array;
  if (const void* const memory = source_.memory()) {
    array = region_of(const_cast<void*>(memory), shape, image, from, size);
  } else {
    region_.resize(static_cast<std::size_t>(element_count(region) * size));
    source_.read(image, from, count, region_.data());
    array = {region_.data(), dense_strides(region)};
  }
  copy_strided({array.data, in_order(array.strides, all)}, {static_cast<std::byte*>(to), dense_strides(moved)}, moved,
               size);
}

void TurnedSink::open(DType dtype, const Shape& shape) {
  shape_ = turned(shape, back_), size_ = byte_size(dtype, 1);
  sink_->open(dtype, shape_);
}

void TurnedSink::write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                       const void* from) {
  const AxisOrder all = behind(1, back_);
  const Shape to = in_order(begin, back_), count = in_order(extent, back_), moved = with_channels(shape_[1], count);
  const Shape strides = in_order(dense_strides(with_channels(shape_[1], extent)), all);
  const Strided region{static_cast<std::byte*>(const_cast<void*>(from)), strides};
  if (void* const memory = sink_->memory())
    return copy_strided(region, region_of(memory, shape_, image, to, size_), moved, size_);
  region_.resize(static_cast<std::size_t>(element_count(moved) * size_));
  copy_strided(region, {region_.data(), dense_strides(moved)}, moved, size_);
  sink_->write(image, to, count, region_.data());
}

TurnedPredictor::TurnedPredictor(Predictor& predictor, const AxisOrder& order, Shape window, Parallel& parallel)
    : predictor_(predictor), order_(order), back_(inverse(order)), parallel_(parallel) {
  window.insert(window.begin(), predictor.batch());
  windows_ = Tensor(predictor.dtype(), window);
}

std::vector<Tensor> TurnedPredictor::run(std::int64_t count, std::int64_t first) {
  const Shape& shape = windows_.shape();
  move_axes(static_cast<const std::byte*>(windows_.raw()), static_cast<std::byte*>(predictor_.windows()),
            count * shape[1], Shape(shape.begin() + 2, shape.end()), back_, byte_size(dtype(), 1), parallel_);
  outputs_.clear();
  for (const Tensor& one : predictor_.run(count, first)) {
    require(one.shape().size() == order_.size() + 2, ErrorKind::invalid_argument, "output ", outputs_.size(), " is [",
            text(one.shape()), "], expected [windows, channel, ", order_.size(), " spatial axes]");
    Tensor moved(one.dtype(), turned(one.shape(), order_));
    move_axes(static_cast<const std::byte*>(one.raw()), static_cast<std::byte*>(moved.mutable_raw()),
              one.shape()[0] * one.shape()[1], Shape(one.shape().begin() + 2, one.shape().end()), order_,
              byte_size(one.dtype(), 1), parallel_);
    outputs_.push_back(std::move(moved));
  }
  return outputs_;
}

}  // namespace tenfold::imaging
