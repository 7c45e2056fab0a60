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

// The last window may begin inside and end behind the image: it gets the padding that it needs there.
void round_up(const LayerCall& call, NetworkAttributes& attributes) {
  const Shape extents = call.known_shape(0, "EXPLICIT_ROUND_UP of a convolution");
  const Shape& window = call.list("kernel_size_nd");
  const auto given = attributes.find("dilations");
  auto& pads = std::get<Shape>(attributes.at("pads"));
  const auto& strides = std::get<Shape>(attributes.at("strides"));
  for (std::size_t d = 0; d < window.size(); ++d) {
    const std::int64_t dilation = given == attributes.end() ? 1 : std::get<Shape>(given->second).at(d);
    const std::int64_t room = extents[d + 2] + pads[d] + pads[d + window.size()] - (window[d] - 1) * dilation - 1;
    if (room > 0 && room % strides[d] != 0) pads[d + window.size()] += strides[d] - room % strides[d];
  }
}

template <bool transposed>
Network::Tensors make(const LayerCall& call) {
  NetworkAttributes attributes = window_of(call, call.list("kernel_size_nd"));
  if (!transposed && call.text("padding_mode") == "EXPLICIT_ROUND_UP") round_up(call, attributes);
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
