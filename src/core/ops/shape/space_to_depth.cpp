// SpaceToDepth: blocks of height and width become channels, the block's index outermost.
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  const std::int64_t block = call.attributes().integer("blocksize");
  call.check_shape(dims.size() == 4, "the input has rank ", dims.size(), ", 4 expected");
  call.validate(block > 0 && block < (1 << 20), "blocksize is ", block);
  for (std::size_t d = 2; d < 4; ++d)
    call.check_shape(!dims[d].is_constant() || dims[d].constant() % block == 0, "extent ", dims[d].text(),
                     " does not divide into blocks of ", block);
  call.out(0, call.dtype(0), {dims[0], dims[1] * Dim(block * block), floor_div(dims[2], Dim(block)), floor_div(dims[3], Dim(block))});
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const std::int64_t block = call.attributes().integer("blocksize");
  const Shape strides = ops::row_major_strides(from.shape);
  ops::IndexMap map;   // batch, block row, block column, channel, height, width
  map.add_dim(from.shape[0], strides[0]);
  map.add_dim(block, strides[2]);
  map.add_dim(block, strides[3]);
  map.add_dim(from.shape[1], strides[1]);
  map.add_dim(from.shape[2] / block, block * strides[2]);
  map.add_dim(from.shape[3] / block, block * strides[3]);
  copy(map, from, call.out[0]);
}

}  // namespace

OpDef op_space_to_depth() {
  return {.name = "SpaceToDepth",
          .types = "T -> T; T: any",
          .attributes = {},
          .optional_attributes = "blocksize: int",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 1,
          .cases = {"f32[1,2,4,6] blocksize=2", "f32[2,3,3,3] blocksize=3", "i8[1,1,2,2] blocksize=1"}};
}

}  // namespace tenfold::ir
