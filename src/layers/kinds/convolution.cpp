// IConvolutionLayer. The kernel is the option, or operand 1; the bias the option, operand 2, or left out.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const Shape& window = call.list("kernel_size_nd");
  const std::int64_t maps = call.number("num_output_maps"), groups = call.number("num_groups");
  NetworkAttributes attributes = window_of(call, window);
  if (call.text("padding_mode") == "EXPLICIT_ROUND_UP")
    call.refuse(ErrorKind::unsupported, "EXPLICIT_ROUND_UP is for poolings: give the convolution the padding that it needs");
  if (!call.list("dilation_nd").empty()) attributes["dilations"] = call.list("dilation_nd");
  attributes["group"] = groups;
  NetworkTensor kernel = call.maybe(1);
  if (!kernel.defined()) {
    const NetworkDim channels = call.net.dims(call.in(0)).at(1);
    if (!channels.name.empty() || groups < 1 || channels.extent % groups != 0)
      call.refuse(std::to_string(groups) + " groups do not divide the channels of the input");
    Shape shape{maps, channels.extent / groups};
    shape.insert(shape.end(), window.begin(), window.end());
    kernel = call.weights("kernel", shape);
  }
  NetworkTensor bias = call.maybe(2);
  if (!bias.defined() && call.has_tensor("bias")) bias = call.weights("bias", {maps});
  return {call.node("Conv", {call.in(0), kernel, bias}, attributes)};
}

}  // namespace

LayerKind layer_convolution() {
  return {.name = "convolution",
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
          .make = make};
}

}  // namespace tenfold::layers
