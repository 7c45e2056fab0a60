// GatherBlockQuantized: rows of a table of 2 to 8 bits, with a scale for each block, as floats. The rows are gathered first.
//
// Operands: data, indices, scales, zero points (as data).
#include "onnx_ops/microsoft/unpacked_common.h"

namespace tenfold::onnx_ops {
namespace {

std::int64_t axis_of(const OnnxImport& call, const char* name, std::int64_t otherwise, int rank) {
  const std::int64_t axis = call.attributes.integer(name, otherwise);
  check_shape(axis >= -rank && axis < rank, name, " is ", axis, " for a table of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<Value*> from_1(OnnxImport& call) {
  const int rank = known_rank(call, 0), index_rank = known_rank(call, 1);
  const std::int64_t bits = call.attributes.integer("bits", 4), block = call.attributes.integer("block_size", 128);
  validate(bits == 2 || bits == 4 || bits == 8, "bits is ", bits, ", 2, 4 or 8 expected");
  validate(block >= 16 && block <= 1 << 28 && (block & (block - 1)) == 0, "block_size is ", block, ", a power of two from 16 on expected");
  const DType given = call.in(0)->dtype();
  supported(given == DType::u8 || given == DType::u4 || given == DType::i4, "a table of ", name(given), ", u8, u4 or i4 is supported");
  const std::int64_t gathered = axis_of(call, "gather_axis", 0, rank), quantized = axis_of(call, "quantize_axis", 1, rank);
  supported(gathered != quantized, "gather_axis and quantize_axis are both ", gathered, ", which have to differ");
  Value *data = unpacked(call, 0, bits), *scales = call.given(2), *zero = call.in(3) ? unpacked(call, 3, bits) : nullptr;
  if (!zero && given == DType::u8) {
    supported(scales->type.ranked && is_constant(scales->dims()), "scales of unknown shape");
    Tensor middle(data->dtype(), constants(scales->dims()));
    for (std::int64_t i = 0; i < middle.size(); ++i) store_int(middle.dtype(), middle.mutable_raw(), i, std::int64_t{1} << (bits - 1));
    zero = call.graph().add_constant(std::move(middle));
  }
  if (zero && zero->dims() != scales->dims() && zero->type.ranked && is_constant(zero->dims()) && is_constant(scales->dims())) {
    const std::int64_t keep = scales->dims().back().constant();   // rows of packed zero points begin on bytes
    zero = one(call, "Slice", {zero, call.ints({0}), call.ints({keep}), call.ints({rank - 1})});
  }
  const auto rows = [&](Value* table) { return table ? one(call, "Gather", {table, call.in(1)}, {{"axis", gathered}}) : nullptr; };
  const std::int64_t axis = quantized < gathered ? quantized : quantized + index_rank - 1;
  return {one(call, "DequantizeLinear", {rows(data), rows(scales), rows(zero)}, {{"axis", axis}, {"block_size", block}})};
}

}  // namespace

OnnxOp onnx_microsoft_gather_block_quantized() { return {.name = "GatherBlockQuantized", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
