// Arithmetic of sliding windows: attributes to pads, pads to extents.
#include "ops/conv/conv_common.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::ops {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Ints;

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // keeps products of two attributes far from overflow

Ints checked_ints(const ir::Attributes& attributes, std::string_view name, std::size_t count, std::int64_t otherwise,
                  std::int64_t min_value) {
  Ints values = attributes.ints(name, {});
  if (values.empty()) values.assign(count, otherwise);
  ir::check_shape(values.size() == count, name, " has ", values.size(), " values, expected ", count);
  for (std::int64_t v : values) {
    ir::validate(v >= min_value && v < kLargest, name, " has the value ", v, ", expected at least ", min_value);
  }
  return values;
}

}  // namespace

Window window_of(const ir::Attributes& attributes, std::span<const Dim> spatial, const Ints& kernel) {
  const std::size_t rank = spatial.size();
  ir::check_shape(kernel.size() == rank, "the kernel has ", kernel.size(), " spatial dims, the input ", rank);
  for (std::int64_t k : kernel) ir::check_shape(k > 0 && k < kLargest, "the kernel has the extent ", k);
  Window window{.kernel = kernel,
                .strides = checked_ints(attributes, "strides", rank, 1, 1),
                .dilations = checked_ints(attributes, "dilations", rank, 1, 1),
                .begin = Dims(rank),
                .end = Dims(rank)};
  const std::string mode = attributes.string("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    const Ints pads = checked_ints(attributes, "pads", 2 * rank, 0, 0);
    for (std::size_t i = 0; i < rank; ++i) window.begin[i] = pads[i], window.end[i] = pads[rank + i];
    return window;
  }
  ir::validate(mode == "VALID" || mode == "SAME_UPPER" || mode == "SAME_LOWER", "auto_pad is \"", mode, "\"");
  if (mode == "VALID") return window;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim covered = (ceil_div(spatial[i], window.strides[i]) - 1) * window.strides[i] + window.reach(i);
    const Dim pad = max(covered - spatial[i], 0);
    const Dim smaller = floor_div(pad, 2);
    window.begin[i] = mode == "SAME_UPPER" ? smaller : pad - smaller;
    window.end[i] = pad - window.begin[i];
  }
  return window;
}

Ints pool_kernel(const ir::Attributes& attributes, std::size_t spatial_rank) {
  ir::validate(attributes.has("kernel_shape"), "kernel_shape is missing");
  return checked_ints(attributes, "kernel_shape", spatial_rank, 1, 1);
}

Ints conv_kernel(const ir::Attributes& attributes, std::span<const Dim> weight_spatial) {
  if (!ir::is_constant(weight_spatial)) return pool_kernel(attributes, weight_spatial.size());
  const Ints kernel = ir::constants(weight_spatial), given = attributes.ints("kernel_shape", {});
  ir::check_shape(given.empty() || given == kernel, "kernel_shape is ", text(given), ", the weight's is ", text(kernel));
  return kernel;
}

Dim window_extent(const Window& window, std::size_t i, Dim input, bool ceil) {
  const Dim room = input + window.begin[i] + window.end[i] - window.reach(i);
  const Dim stride = window.strides[i];
  const Dim extent = ceil ? min(ceil_div(room, stride) + 1, ceil_div(input + window.begin[i], stride)) : floor_div(room, stride) + 1;
  ir::check_shape(!extent.is_constant() || extent.constant() >= 0, "a window of ", window.reach(i), " does not fit an extent of ",
                  input.text(), " with pads ", window.begin[i].text(), " and ", window.end[i].text());
  return extent;
}

Dims window_extents(const ir::Attributes& attributes, const Window& window, std::span<const Dim> spatial, bool ceil) {
  const bool by_auto_pad = attributes.string("auto_pad", "NOTSET").starts_with("SAME");
  Dims out;
  for (std::size_t i = 0; i < spatial.size(); ++i)
    out.push_back(by_auto_pad ? ceil_div(spatial[i], window.strides[i]) : window_extent(window, i, spatial[i], ceil));
  return out;
}

void spell_out(ir::Attributes& attributes, const Window& window, bool with_kernel) {
  if (with_kernel) attributes.set("kernel_shape", window.kernel);
  attributes.set("strides", window.strides);
  attributes.set("dilations", window.dilations);
  if (!ir::is_constant(window.begin) || !ir::is_constant(window.end)) return;
  Ints pads = ir::constants(window.begin);
  const Ints end = ir::constants(window.end);
  pads.insert(pads.end(), end.begin(), end.end());
  attributes.set("pads", pads);
  attributes.set("auto_pad", std::string("NOTSET"));
}

Dims infer_window(ir::InferCall& call, const Ints& kernel, Dim channels, bool ceil) {
  const Dims& in = call.dims(0);
  call.check_shape(in.size() >= 3, "the input has rank ", in.size(), ", expected batch, channels and one to three spatial dims");
  call.supported(in.size() <= 5, "more than three spatial dims: the input has rank ", in.size());
  const std::span<const Dim> spatial(in.begin() + 2, in.end());
  const Window window = window_of(call.attributes(), spatial, kernel);
  Dims out{in[0], channels};
  for (Dim extent : window_extents(call.attributes(), window, spatial, ceil)) out.push_back(extent);
  spell_out(call.edit_attributes(), window);
  return out;
}

DType convolution_dtype(ir::InferCall& call) {
  const bool narrows = call.dtype(0) == DType::f32 && call.node().numerics.round_to != ir::Rounding::none &&
                       call.node().numerics.round_to == ir::rounding_to(call.dtype(1));
  return call.dtype(narrows ? 1 : 0);
}

Dims infer_convolution(ir::InferCall& call) {
  const Dims &x = call.dims(0), &w = call.dims(1);
  const std::int64_t group = call.attributes().integer("group");
  call.validate(group > 0, "group is ", group);
  call.check_shape(x.size() >= 3 && w.size() == x.size(), "the input has rank ", x.size(), " and the weight ", w.size(),
            ", expected equal ranks of 3 or more");
  const Dim channels = w[1] * group;
  call.check_shape(!x[1].is_constant() || !channels.is_constant() || x[1] == channels, "the input has ", x[1].text(),
            " channels, the weight expects ", channels.text());
  call.check_shape(!w[0].is_constant() || w[0].constant() % group == 0, w[0].text(), " output channels do not divide into ", group,
                   " groups");
  return infer_window(call, conv_kernel(call.attributes(), std::span(w).subspan(2)), w[0]);
}

void expect_bias(const ir::InferCall& call, int i, Dim channels) {
  if (!call.has(i)) return;
  const Dims& bias = call.dims(i);
  const bool fits = bias.size() == 1 && (!bias[0].is_constant() || !channels.is_constant() || bias[0] == channels);
  const bool both_f32 = call.dtype(0) == DType::f32 && call.dtype(1) == DType::f32;
  call.validate(!both_f32 || call.dtype(i) == DType::f32, "the bias is ", name(call.dtype(i)), ", input and weights are f32");
  call.check_shape(fits, "the bias is [", ir::text(bias), "], expected [", channels.text(), "], a number for each channel of the result");
}

Geometry::Geometry(const Shape& input, const Shape& output, const Window& window) {
  const std::size_t lead = 3 - window.rank();
  for (std::size_t i = 0; i < window.rank(); ++i) {
    in[lead + i] = input[2 + i];
    out[lead + i] = output[2 + i];
    kernel[lead + i] = window.kernel[i];
    stride[lead + i] = window.strides[i];
    dilation[lead + i] = window.dilations[i];
    begin[lead + i] = window.begin[i].constant();
    end[lead + i] = window.end[i].constant();
  }
}

Dims spatial_dims(const Shape& shape) { return ir::to_dims(std::span(shape).subspan(2)); }

Range inside(const Geometry& g, std::size_t dim, std::int64_t k) {
  const std::int64_t offset = k * g.dilation[dim] - g.begin[dim];  // input = output * stride + offset
  const std::int64_t first = std::max<std::int64_t>(0, ceil_div(-offset, g.stride[dim]));
  const std::int64_t last = std::min(g.out[dim], floor_div(g.in[dim] - 1 - offset, g.stride[dim]) + 1);
  return {first, std::max(first, last)};
}

}  // namespace tenfold::ops
