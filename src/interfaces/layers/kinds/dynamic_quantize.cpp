// IDynamicQuantizeLayer: a scale for each block of elements along one axis, found in the run. To FP4 with scales of FP8, which operand 1
// scales once more (NVFP4), or to FP8 with powers of two as scales (MXFP8). Results: the quantized tensor, and the scales.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

struct Block {
  std::int64_t axis = 0, size = 0;
};

// As two options say it, or as the shape of a block does: ones, and one extent that is none.
Block block_of(const LayerCall& call, const Shape& extents) {
  const auto rank = static_cast<std::int64_t>(extents.size());
  const Shape& shape = call.list("block_shape");
  Block block{call.number("axis"), call.number("block_size")};
  if (!shape.empty()) {
    if (static_cast<std::int64_t>(shape.size()) != rank)
      call.refuse("block_shape has " + std::to_string(shape.size()) + " extents, the input " + std::to_string(rank));
    block = {rank - 1, 1};
    int larger = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t size =
          shape[static_cast<std::size_t>(d)] == -1 ? extents[static_cast<std::size_t>(d)] : shape[static_cast<std::size_t>(d)];
      if (size != 1) block = {d, size}, ++larger;
    }
    if (larger > 1) call.refuse(ErrorKind::unsupported, "blocks lie along one axis here, block_shape has several extents above 1");
  }
  if (block.axis < 0) block.axis += rank;
  if (block.axis < 0 || block.axis >= rank) call.refuse("axis " + std::to_string(call.number("axis")) + " is none of the input's");
  const std::int64_t extent = extents[static_cast<std::size_t>(block.axis)];
  if (block.size < 1 || extent % block.size != 0)
    call.refuse("blocks of " + std::to_string(block.size) + " do not divide the extent " + std::to_string(extent));
  return block;
}

Network::Tensors make(const LayerCall& call) {
  const Shape extents = call.known_shape(0, "dynamic quantization");
  const Block block = block_of(call, extents);
  const DType to = dtype_of(call, call.text("to_type")), scales = dtype_of(call, call.text("scale_type"));
  const bool four = to == DType::f4e2m1;
  if (!(four ? scales == DType::f8e4m3fn : to == DType::f8e4m3fn && scales == DType::f8e8m0))
    call.refuse(ErrorKind::unsupported, "there are FP4 with scales of FP8, and FP8 with scales of E8M0, not " + call.text("to_type") +
                                            " with scales of " + call.text("scale_type"));
  if (four != call.has(1)) call.refuse(four ? "FP4 needs the scale of the scales: set_input(1, tensor)" : "FP8 takes no second scale");
  Shape blocked = extents, counts = extents;
  const auto at = static_cast<std::ptrdiff_t>(block.axis);
  blocked[static_cast<std::size_t>(block.axis)] = counts[static_cast<std::size_t>(block.axis)] /= block.size;
  blocked.insert(blocked.begin() + at + 1, block.size);
  const NetworkTensor blocks = call.node("Reshape", {call.cast(call.in(0), DType::f32), call.integers(blocked)});
  const NetworkTensor max = call.node("ReduceMax", {call.node("Abs", {blocks}), call.integers({block.axis + 1})});
  NetworkTensor scale = call.node("Div", {max, call.scalar(DType::f32, four ? 6.0f : 448.0f)});   // the largest of FP4, of FP8
  const NetworkTensor twice = four ? call.cast(call.in(1), DType::f32) : NetworkTensor{};
  if (four) scale = call.node("Div", {scale, twice});
  const NetworkTensor stored = call.cast(scale, scales);
  NetworkTensor real = call.cast(stored, DType::f32);
  if (four) real = call.node("Mul", {real, twice});
  const NetworkTensor zero = call.scalar(DType::f32, 0);   // a block of zeros has the scale 0, and stays zeros
  const NetworkTensor safe = call.node("Where", {call.node("Equal", {real, zero}), call.scalar(DType::f32, 1), real});
  const NetworkTensor divided = call.node("Reshape", {call.node("Div", {blocks, safe}), call.integers(extents)});
  return {call.cast(divided, to), call.node("Reshape", {stored, call.integers(counts)})};
}

}  // namespace

LayerKind layer_dynamic_quantize() {
  return {.name = "dynamic_quantize",
          .max_inputs = 2,
          .options = {{"axis", std::int64_t{-1}},
                      {"block_size", std::int64_t{16}},
                      {"block_shape", Shape{}},
                      {"to_type", std::string("FP4")},
                      {"scale_type", std::string("FP8")}},
          .make = make};
}

}  // namespace tenfold::layers
