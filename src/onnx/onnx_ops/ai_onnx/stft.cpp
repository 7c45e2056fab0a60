// STFT: Fourier transforms of frames of a signal, as one convolution: its filters are the rows of the transform times the window.
//
// Operands: signal [batch, length, 1 or 2] or [batch, length], step from frame to frame, window, length of a frame.
#include "onnx_ops/ai_onnx/fourier_common.h"
#include "onnx_ops/ai_onnx/fourier_run_common.h"

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

// Step or length are data: frames are gathered, and their matrix is computed.
std::vector<Value*> transformed_frames(OnnxImport& call, Value* length) {
  Value *signal = call.in(0), *step = single(call, call.given(1));
  if (signal->rank() == 2) signal = unsqueezed(call, signal, {2});
  const Dim parts = signal->dims()[2];
  supported(parts.is_constant(), "the last dim of the signal is ", parts.text(), ", a constant one is supported");
  check_shape(parts == Dim(1) || parts == Dim(2), "the last dim of the signal is ", parts.text(), ", 1 or 2 expected");
  Value* frames = one(call, "Div", {one(call, "Sub", {extent(call, signal, 1), length}), step});
  frames = one(call, "Add", {frames, call.ints({1})});
  Value* start = unsqueezed(call, one(call, "Mul", {counted(call, frames), step}), {1});
  Value* place = one(call, "Add", {start, unsqueezed(call, counted(call, length), {0})});   // [frames, length]
  Value* x = one(call, "Gather", {signal, place}, {{"axis", 1}});                           // [batch, frames, length, parts]
  if (call.in(2)) x = one(call, "Mul", {x, unsqueezed(call, call.in(2), {1})});
  x = one(call, "Reshape", {x, one(call, "Concat", {call.ints({-1}), length, call.ints({1, parts.constant()})}, {{"axis", 0}})});
  RunTransform t{.length = length, .bins = length};
  if (call.attributes.integer("onesided", 1) != 0)
    t.bins = one(call, "Add", {one(call, "Div", {length, call.ints({2})}), call.ints({1})});
  Value* y = transformed_at_run(call, x, parts.constant(), t);                              // [batch * frames, bins, 1, 2]
  return {one(call, "Reshape", {y, one(call, "Concat", {extent(call, signal, 0), frames, t.bins, call.ints({2})}, {{"axis", 0}})})};
}

std::vector<Value*> from_17(OnnxImport& call) {
  const int rank = known_rank(call, 0);
  expect_float(call, 0);
  check_shape(rank == 2 || rank == 3, "the signal has rank ", rank, ", 2 or 3 expected");
  validate(call.in(2) || call.in(3), "neither a window nor the length of frames is given");
  const bool known = call.given(1)->is_constant() && (!call.in(3) || call.in(3)->is_constant()) &&
                     (call.in(3) || (call.in(2)->type.ranked && call.in(2)->rank() == 1 && call.in(2)->dims()[0].is_constant()));
  if (!known) return transformed_frames(call, call.in(3) ? single(call, call.in(3)) : extent(call, call.in(2), 0));
  Value* signal = rank == 2 ? call.in(0) : transposed(call, call.in(0), {0, 2, 1});
  if (rank == 2) signal = unsqueezed(call, signal, {1});
  const Dim parts = signal->dims()[1];
  supported(parts.is_constant(), "the last dim of the signal is ", parts.text(), ", a constant one is supported");
  check_shape(parts == Dim(1) || parts == Dim(2), "the last dim of the signal is ", parts.text(), ", 1 or 2 expected");
  Value* window = call.in(2);
  const bool sized = window && window->type.ranked && window->rank() == 1 && window->dims()[0].is_constant();
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
  Value* y = exact(one(call, "Conv", {signal, weights}, {{"strides", Ints{step}}}));   // [batch, 2 * bins, frames]
  y = one(call, "Reshape", {y, call.ints({0, 2, bins, -1})});
  return {transposed(call, y, {0, 3, 2, 1})};
}

}  // namespace

OnnxOp onnx_ai_onnx_stft() { return {.name = "STFT", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
