#include "ops/fused/block_scaled_common.h"

#include "ir/fault.h"
#include "ops/matmul/matmul_common.h"

namespace tenfold::ops {

void infer_block_scaled(ir::InferCall& call) {
  const std::int64_t block = call.attributes().integer("block_size");
  call.validate(block > 0, "block_size is ", block, ", it has to be more than 0");
  call.check_shape(call.rank(1) == 2, "the integers have rank ", call.rank(1), ", expected 2");
  const ir::Dims expected{ceil_div(call.dims(1)[0], block), call.dims(1)[1]};
  call.check_shape(call.dims(2) == expected, "the scales are ", text(call.dims(2)), ", expected ", text(expected));
  if (call.has(3))
    call.check_shape(call.dims(3) == expected, "the zero points are ", text(call.dims(3)), ", the scales ", text(expected));
  call.out(0, call.dtype(0), matmul_dims(call, call.dims(0), call.dims(1)));
}

}  // namespace tenfold::ops
