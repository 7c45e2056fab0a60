// DepthToSpace: channels become blocks of height and width; mode says whether the block's index is the outer part (DCR) or not.
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  const std::int64_t block = call.attributes().integer("blocksize");
  const std::string& mode = call.attributes().string("mode");
  call.check_shape(dims.size() == 4, "the input has rank ", dims.size(), ", 4 expected");
  call.validate(block > 0 && block < (1 << 20), "blocksize is ", block);
  call.validate(mode == "DCR" || mode == "CRD", "unknown mode '", mode, "'");
  call.check_shape(!dims[1].is_constant() || dims[1].constant() % (block * block) == 0, dims[1].text(),
                   " channels do not divide into blocks of ", block);
  call.out(0, call.dtype(0), {dims[0], floor_div(dims[1], Dim(block * block)), dims[2] * Dim(block), dims[3] * Dim(block)});
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const std::int64_t block = call.attributes().integer("blocksize"), depth = call.out[0].shape[1];
  const Shape strides = ops::row_major_strides(from.shape);
  const bool block_outer = call.attributes().string("mode") == "DCR";
  const std::int64_t step = (block_outer ? depth : 1) * strides[1];   // from one place in the block to the next
  ops::IndexMap map;   // batch, depth, height, block row, width, block column
  map.add_dim(from.shape[0], strides[0]);
  map.add_dim(depth, (block_outer ? 1 : block * block) * strides[1]);
  map.add_dim(from.shape[2], strides[2]);
  map.add_dim(block, block * step);
  map.add_dim(from.shape[3], strides[3]);
  map.add_dim(block, step);
  copy(map, from, call.out[0]);
}

}  // namespace

OpDef op_depth_to_space() {
  return {.name = "DepthToSpace",
          .types = "T -> T; T: any",
          .attributes = {{"mode", "DCR"}},
          .optional_attributes = "blocksize: int",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 1,
          .cases = {"f32[1,8,2,3] blocksize=2", "f32[2,12,2,2] blocksize=2 mode=\"CRD\"", "i8[1,9,1,2] blocksize=3"}};
}

}  // namespace tenfold::ir
