// RotaryEmbedding of ONNX Runtime: positions stand before the tables; one number is the position of the first row.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const int rank = known_rank(call, 0);
  check_shape(rank == 3 || rank == 4, "the input has rank ", rank, ", 3 or 4 expected");
  supported(call.attributes.integer("is_packed_batching", 0) == 0, "packed sentences (is_packed_batching) are not supported");
  supported(call.attributes.number("scale", 1.0f) == 1.0f, "scale is ", call.attributes.number("scale", 1.0f), ", 1 is supported");
  Value *x = call.in(0), *positions = one(call, "Cast", {call.given(1)}, {{"to", "i64"}}), *cosines = call.given(2);
  supported(positions->type.ranked && cosines->type.ranked && cosines->rank() == 2, "the ranks of positions and cosines are not known");
  if (positions->rank() == 1) {
    Value* rows = extent(call, x, rank == 3 ? 1 : 2);
    Value* shape = one(call, "Concat", {extent(call, x, 0), rows}, {{"axis", 0}});
    positions = one(call, "Expand", {one(call, "Add", {counted(call, rows), positions}), shape});
  }
  Attributes attributes{{"interleaved", call.attributes.integer("interleaved", 0)},
                        {"rotary_embedding_dim", call.attributes.integer("rotary_embedding_dim", 0)}};
  std::int64_t heads = call.attributes.integer("num_heads", 0);
  if (rank == 3 && heads == 0) {
    const Dim width = x->dims()[2], half = cosines->dims()[1];
    supported(width.is_constant() && half.is_constant() && half.constant() > 0, "num_heads is missing, and the head size is not known");
    heads = width.constant() / (2 * half.constant());
  }
  if (rank == 3) attributes.set("num_heads", heads);
  return call.add("RotaryEmbedding", {x, cosines, call.given(3), positions}, std::move(attributes));
}

}  // namespace

OnnxOp onnx_microsoft_rotary_embedding() { return {.name = "RotaryEmbedding", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
