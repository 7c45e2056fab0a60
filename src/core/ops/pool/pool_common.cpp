// Shapes of the poolings.
#include "ops/pool/pool_common.h"

namespace tenfold::ops {

ir::Dims infer_pool(ir::InferCall& call) {
  call.check_shape(call.rank(0) >= 3, "the input has rank ", call.rank(0), ", expected batch, channels and one to three spatial dims");
  const ir::Ints kernel = pool_kernel(call.attributes(), static_cast<std::size_t>(call.rank(0)) - 2);
  return infer_window(call, kernel, call.dims(0)[1], call.attributes().integer("ceil_mode") != 0);
}

ir::Dims infer_global_pool(ir::InferCall& call) {
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  ir::Dims dims(static_cast<std::size_t>(call.rank(0)), ir::Dim(1));
  dims[0] = call.dims(0)[0];
  dims[1] = call.dims(0)[1];
  return dims;
}

Geometry pool_geometry(const ir::Call& call) {
  const Shape& input = call.in[0].shape;
  const Window window = window_of(call.attributes(), spatial_dims(input), pool_kernel(call.attributes(), input.size() - 2));
  return Geometry(input, call.out[0].shape, window);
}

}  // namespace tenfold::ops
