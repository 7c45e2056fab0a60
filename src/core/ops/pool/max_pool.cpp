// MaxPool: the largest element of each window, and on request where it was.
#include <limits>
#include <type_traits>

#include "ops/body_prims.h"
#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims dims = ops::infer_pool(call);
  call.out(0, call.dtype(0), dims);
  call.out(1, DType::i64, dims);
}

// Index of an element in the whole tensor; storage order 1 counts the spatial dims of a channel column by column.
std::int64_t flat_index(const ops::Geometry& g, std::int64_t channel, std::int64_t i, bool column_major) {
  if (column_major) {
    const std::int64_t x = i % g.in[2], y = i / g.in[2] % g.in[1], z = i / (g.in[2] * g.in[1]);
    i = (x * g.in[1] + y) * g.in[0] + z;
  }
  return channel * g.in_size() + i;
}

template <class T>
void run(Call& call) {
  const ops::Geometry g = ops::pool_geometry(call);
  const bool column_major = call.attributes().integer("storage_order") != 0;
  const ops::RealIn<T> x(call.in[0]);
  const ops::RealOut<T> y(call.out[0]);
  T none = -std::numeric_limits<T>::infinity();   // of a window that lies in the pads
  if constexpr (std::is_integral_v<T>) none = static_cast<T>(ops::min_integer(call.in[0].dtype));
  std::int64_t* indices = call.out.size() > 1 ? call.out[1].as<std::int64_t>() : nullptr;
  ops::pool_windows(g, call.in[0].shape[0] * call.in[0].shape[1], x.data(), y.data(),
                    [&](const T* image, const ops::Geometry::Three& o, std::int64_t channel) {
                      T best = none;
                      std::int64_t where = -1;
                      ops::visit_window(g, o, [&](std::int64_t i) {
                        const bool is_nan = image[i] != image[i] && best == best;   // it stays, as in Max
                        if (where < 0 || image[i] > best || is_nan) best = image[i], where = i;
                      });
                      if (indices) *indices++ = where < 0 ? -1 : flat_index(g, channel, where, column_major);
                      return best;
                    });
}

void reference(Call& call) {
  ops::with_number(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_max_pool() {
  return {.name = "MaxPool",
          .max_outputs = 2,
          .types = "T -> T, i64; T: number",
          .attributes = {{"auto_pad", "NOTSET"}, {"ceil_mode", 0}, {"storage_order", 0}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .onnx_since = 1,
          .cases = {"f32[1,3,8,8] kernel_shape=[2,2] strides=[2,2]", "f32[2,4,9,7] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "f32[1,2,10,11] kernel_shape=[3,2] strides=[3,2] ceil_mode=1 outputs=2",
                    "f32[1,3,13] kernel_shape=[3] dilations=[2] pads=[2,2]", "f32[1,2,5,6,7] kernel_shape=[2,3,2] pads=[0,1,0,1,1,1]",
                    "f32[1,1,5,5] kernel_shape=[3,3] auto_pad=\"SAME_UPPER\" strides=[2,2]", "u8[1,2,6,6] kernel_shape=[3,3]",
                    "f16[1,2,6,6] kernel_shape=[2,2] storage_order=1 outputs=2",
                    "bf16[2,40,9,7] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "bf16[1,35,5,6,37] kernel_shape=[2,2,2] strides=[2,2,1]"}};
}

}  // namespace tenfold::ir
