// Convolutions and their transposes, which differ in the operator, and in how the kernel's first two extents come about.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

// The input's channels. Where only a profile has them, those that the kernel's weights are made for.
std::int64_t channels_of(const LayerCall& call, bool transposed) {
  const NetworkDim channels = call.net.dims(call.in(0))[1];
  if (channels.name.empty()) return channels.extent;
  const std::int64_t maps = call.number("num_output_maps"), groups = call.number("num_groups");
  std::int64_t of_one = transposed && groups > 0 ? maps / groups : maps;   // elements for each channel, or for each of a group
  for (const std::int64_t extent : call.list("kernel_size_nd")) of_one = of_one > 0 && of_one < (1 << 30) ? of_one * extent : 0;
  const std::int64_t elements = call.has_tensor("kernel") ? call.tensor("kernel").size() : 0;
  if (of_one < 1 || elements < 1 || elements % of_one != 0)
    call.refuse("the number of channels is '" + channels.name + "', and the kernel's weights do not tell it either");
  return elements / of_one * (transposed ? 1 : groups);
}

// The input with its channels as a number, which the run holds it to.
NetworkTensor with_channels(const LayerCall& call, std::int64_t channels) {
  Shape target(static_cast<std::size_t>(call.rank(0)), 0);
  target[1] = channels;
  return call.node("Reshape", {call.in(0), call.integers(target)});
}

Shape kernel_shape(const LayerCall& call, std::int64_t channels, bool transposed) {
  const std::int64_t maps = call.number("num_output_maps"), groups = call.number("num_groups");
  const std::int64_t divided = transposed ? maps : channels;
  if (groups < 1 || divided % groups != 0)
    call.refuse(std::to_string(groups) + " groups do not divide " + std::to_string(divided) + (transposed ? " maps" : " channels"));
  Shape shape = transposed ? Shape{channels, maps / groups} : Shape{maps, channels / groups};
  const Shape& window = call.list("kernel_size_nd");
  shape.insert(shape.end(), window.begin(), window.end());
  return shape;
}

// The last window may begin inside and end behind the image: it gets the padding that it needs there. As Caffe counts, one that begins
// behind the image and the padding before it is none.
void round_up(const LayerCall& call, NetworkAttributes& attributes) {
  const Shape extents = call.known_shape(0, "EXPLICIT_ROUND_UP of a convolution");
  const Shape& window = call.list("kernel_size_nd");
  const auto given = attributes.find("dilations");
  auto& pads = std::get<Shape>(attributes.at("pads"));
  const auto& strides = std::get<Shape>(attributes.at("strides"));
  for (std::size_t d = 0; d < window.size(); ++d) {
    const std::int64_t dilation = given == attributes.end() ? 1 : std::get<Shape>(given->second).at(d);
    const std::int64_t room = extents[d + 2] + pads[d] + pads[d + window.size()] - (window[d] - 1) * dilation - 1;
    if (room <= 0 || room % strides[d] == 0) continue;
    const std::int64_t begin = room - room % strides[d] + strides[d];   // of the last window, from where the padding begins
    const bool behind = call.text("padding_mode") == "CAFFE_ROUND_UP" && begin >= extents[d + 2] + pads[d];
    if (!behind) pads[d + window.size()] += begin - room;
  }
}

template <bool transposed>
Network::Tensors make(const LayerCall& call) {
  NetworkAttributes attributes = window_of(call, call.list("kernel_size_nd"), call.in(0));
  if (!transposed && rounds_up(call)) round_up(call, attributes);
  attributes["group"] = call.number("num_groups");
  NetworkTensor input = call.in(0), kernel = call.maybe(1);
  if (!kernel.defined()) {
    const std::int64_t channels = channels_of(call, transposed);
    if (!call.net.dims(input)[1].name.empty()) input = with_channels(call, channels);
    kernel = call.weights("kernel", kernel_shape(call, channels, transposed));
  }
  NetworkTensor bias = call.maybe(2);
  if (!bias.defined() && call.has_tensor("bias")) bias = call.weights("bias", {call.number("num_output_maps")});
  return {call.node(transposed ? "ConvTranspose" : "Conv", {input, kernel, bias}, attributes)};
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
