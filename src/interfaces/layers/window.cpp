// Windows of convolutions and poolings: strides, dilations, and TensorRT's ways of padding as ONNX has them.
#include "layers/layer.h"

namespace tenfold::layers {

NetworkAttributes window_of(const LayerCall& call, const Shape& window, NetworkTensor over) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;   // keeps products of two numbers far from overflow
  const auto rank = static_cast<int>(call.net.dims(over).size());
  if (rank < 3) call.refuse("the input needs N, C and spatial dimensions, it has " + std::to_string(rank) + " in all");
  const auto n = static_cast<std::size_t>(rank - 2);
  const auto of_option = [&](const char* option, std::int64_t fallback) {
    Shape list = call.list(option);
    if (list.empty()) list.assign(n, fallback);
    for (const std::int64_t number : list)   // steps begin at 1, as their default does; paddings at 0
      if (number < fallback || number >= kLargest)
        call.refuse(std::string(option) + " has " + std::to_string(number) + ", " + std::to_string(fallback) + " or more was expected" +
                    (number < fallback ? "" : ", and less than 2^31"));
    if (list.size() != n)
      call.refuse(std::string(option) + " has " + std::to_string(list.size()) + " numbers for " + std::to_string(n) +
                  " spatial dimensions");
    return list;
  };
  if (window.size() == n + 1)
    call.refuse("the window has " + std::to_string(window.size()) + " numbers for an input of " + std::to_string(rank) +
                " dims: implicit-batch networks are not supported, so give the input its batch as the first dim");
  if (window.size() != n)
    call.refuse("the window has " + std::to_string(window.size()) + " numbers for " + std::to_string(n) + " spatial dimensions");
  for (const std::int64_t number : window)
    if (number < 1 || number >= kLargest)
      call.refuse("the window has " + std::to_string(number) + ", 1 or more was expected, and less than 2^31");
  const Shape strides = of_option("stride_nd", 1), before = of_option("pre_padding", 0);
  Shape after = of_option("post_padding", 0), pads = before;
  NetworkAttributes made{{"strides", strides}, {"kernel_shape", window}};
  if (call.knows("dilation_nd") && !call.list("dilation_nd").empty()) made["dilations"] = of_option("dilation_nd", 1);
  switch (call.choice("padding_mode",
                      {"EXPLICIT_ROUND_DOWN", "EXPLICIT_ROUND_UP", "SAME_UPPER", "SAME_LOWER", "CAFFE_ROUND_DOWN", "CAFFE_ROUND_UP"})) {
    case 2: made["auto_pad"] = std::string("SAME_UPPER"); return made;
    case 3: made["auto_pad"] = std::string("SAME_LOWER"); return made;
    case 4:
    case 5: after = before; break;
    default: break;
  }
  pads.insert(pads.end(), after.begin(), after.end());
  made["pads"] = pads;
  return made;
}

}  // namespace tenfold::layers
