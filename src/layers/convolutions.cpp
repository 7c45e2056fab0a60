// Convolutions and their transposes, which differ in the operator, and in how the kernel's first two extents come about.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Shape kernel_shape(const LayerCall& call, bool transposed) {
  const std::int64_t maps = call.number("num_output_maps"), groups = call.number("num_groups");
  const NetworkDim channels = call.net.dims(call.in(0))[1];
  const std::int64_t divided = transposed ? maps : channels.extent;
  if (!channels.name.empty()) call.refuse("the number of channels has to be known, it is '" + channels.name + "'");
  if (groups < 1 || divided % groups != 0)
    call.refuse(std::to_string(groups) + " groups do not divide " + std::to_string(divided) + (transposed ? " maps" : " channels"));
  Shape shape = transposed ? Shape{channels.extent, maps / groups} : Shape{maps, channels.extent / groups};
  const Shape& window = call.list("kernel_size_nd");
  shape.insert(shape.end(), window.begin(), window.end());
  return shape;
}

template <bool transposed>
Network::Tensors make(const LayerCall& call) {
  NetworkAttributes attributes = window_of(call, call.list("kernel_size_nd"));
  if (call.text("padding_mode") == "EXPLICIT_ROUND_UP")
    call.refuse(ErrorKind::unsupported, "EXPLICIT_ROUND_UP is for poolings: give the convolution the padding that it needs");
  if (!call.list("dilation_nd").empty()) attributes["dilations"] = call.list("dilation_nd");
  attributes["group"] = call.number("num_groups");
  const NetworkTensor kernel = call.has(1) ? call.in(1) : call.weights("kernel", kernel_shape(call, transposed));
  NetworkTensor bias = call.maybe(2);
  if (!bias.defined() && call.has_tensor("bias")) bias = call.weights("bias", {call.number("num_output_maps")});
  return {call.node(transposed ? "ConvTranspose" : "Conv", {call.in(0), kernel, bias}, attributes)};
}

}  // namespace

LayerKind convolution_kind(const char* name, bool transposed) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 3,
          .options = {{"num_output_maps", std::int64_t{0}},
                      {"kernel_size_nd", Shape{}},
                      {"stride_nd", Shape{}},
                      {"pre_padding", Shape{}},
                      {"post_padding", Shape{}},
                      {"dilation_nd", Shape{}},
                      {"padding_mode", std::string("EXPLICIT_ROUND_DOWN")},
                      {"num_groups", std::int64_t{1}},
                      {"kernel", Tensor()},
                      {"bias", Tensor()}},
          .make = transposed ? make<true> : make<false>};
}

}  // namespace tenfold::layers
