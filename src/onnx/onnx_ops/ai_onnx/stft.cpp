// STFT: Fourier transforms of frames of a signal, as one convolution: its filters are the rows of the transform times the window.
//
// Operands: signal [batch, length, 1 or 2] or [batch, length], step from frame to frame, window, length of a frame.
#include "onnx_ops/ai_onnx/fourier_common.h"

namespace tenfold::onnx_ops {
namespace {

// [2 * bins, parts, length]: real parts of all bins, then imaginary ones.
template <class T>
void write_filters(std::int64_t bins, std::int64_t parts, std::int64_t length, T* at) {
  const Circle circle(length);
  for (std::int64_t row = 0; row < 2 * bins; ++row) {
    const bool imaginary = row >= bins;
    for (std::int64_t part = 0; part < parts; ++part)
      circle.along(row % bins, length, [&](double cosine, double sine) {
        *at++ = static_cast<T>(imaginary == (part == 1) ? cosine : imaginary ? -sine : sine);
      });
  }
}

std::vector<Value*> from_17(OnnxImport& call) {
  const int rank = known_rank(call, 0);
  expect_float(call, 0);
  check_shape(rank == 2 || rank == 3, "the signal has rank ", rank, ", 2 or 3 expected");
  Value* signal = rank == 2 ? call.in(0) : transposed(call, call.in(0), {0, 2, 1});
  if (rank == 2) signal = unsqueezed(call, signal, {1});
  const Dim parts = signal->dims()[1];
  supported(parts.is_constant(), "the last dim of the signal is ", parts.text(), ", a constant one is supported");
  check_shape(parts == Dim(1) || parts == Dim(2), "the last dim of the signal is ", parts.text(), ", 1 or 2 expected");
  Value* window = call.in(2);
  const bool sized = window && window->type.ranked && window->rank() == 1 && window->dims()[0].is_constant();
  supported(sized || call.in(3), "the length of frames is not known");
  const std::int64_t step = constant_integer(call, 1, "frame_step", 0),
                     length = constant_integer(call, 3, "frame_length", sized ? window->dims()[0].constant() : 0);
  check_shape(step > 0 && length > 0, "frame_step is ", step, ", frame_length ", length, ", both have to be more than 0");
  check_shape(!sized || window->dims()[0] == Dim(length), "a window of ", sized ? window->dims()[0].text() : "?", " for frames of ",
              length);
  const std::int64_t bins = call.attributes.integer("onesided", 1) != 0 ? length / 2 + 1 : length;
  supported(length < kMaxFourier && 2 * bins * parts.constant() <= kMaxFourier / length, "frames of ", length,
            " are too long to be transformed by filters");
  Value* weights = filled(call, signal->dtype(), {2 * bins, parts.constant(), length},
                               [&](auto* to) { write_filters(bins, parts.constant(), length, to); });
  if (window) weights = one(call, "Mul", {weights, window});
  Value* y = one(call, "Conv", {signal, weights}, {{"strides", Ints{step}}});   // [batch, 2 * bins, frames]
  y = one(call, "Reshape", {y, call.ints({0, 2, bins, -1})});
  return {transposed(call, y, {0, 3, 2, 1})};
}

}  // namespace

OnnxOp onnx_ai_onnx_stft() { return {.name = "STFT", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
