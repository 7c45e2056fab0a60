// ReverseSequence: for each batch entry the first `sequence_lens` time steps in reverse order, the others unchanged.
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::int64_t batch = call.attributes().integer("batch_axis"), time = call.attributes().integer("time_axis");
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", at least 2 expected");
  call.validate((batch == 0 && time == 1) || (batch == 1 && time == 0), "batch_axis and time_axis have to be 0 and 1, found ",
             batch, " and ", time);
  call.check_shape(call.rank(1) == 1, "sequence_lens has rank ", call.rank(1), ", 1 expected");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const auto batch = static_cast<std::size_t>(call.attributes().integer("batch_axis")), time = 1 - batch;
  const Ints lengths = ops::read_ints(call.in[1]);
  call.check_shape(static_cast<std::int64_t>(lengths.size()) == from.shape[batch], lengths.size(), " lengths for a batch of ",
                   from.shape[batch]);
  std::int64_t inner = 1;
  for (std::size_t d = 2; d < from.shape.size(); ++d) inner *= from.shape[d];
  ops::for_each_index({from.shape[0], from.shape[1]}, [&](const Shape& index, std::int64_t row) {
    const std::int64_t length = lengths[static_cast<std::size_t>(index[batch])];
    call.check_shape(length >= 0 && length <= from.shape[time], "length ", length, " is outside [0, ", from.shape[time], "]");
    const std::int64_t step = index[time], mirrored = step < length ? length - 1 - step : step;
    const std::int64_t source = row + (mirrored - step) * (time == 0 ? from.shape[1] : 1);
    ops::move_elements(from.dtype, from.data, source * inner, to.data, row * inner, inner);
  });
}

}  // namespace

OpDef op_reverse_sequence() {
  return {.name = "ReverseSequence",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {{"batch_axis", 1}, {"time_axis", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 10,
          .cases = {"f32[4,4] i64[4]{4,3,2,1}", "f32[3,4,2] i64[3]{1,4,0} batch_axis=0 time_axis=1"}};
}

}  // namespace tenfold::ir
