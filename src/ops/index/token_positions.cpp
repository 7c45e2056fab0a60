// TokenPositions (internal): which tokens of a padded batch a mask of [batch, sequence] keeps (where it is not 0), made by pack_tokens.
//
// Results, all i32: offsets [batch + 1], where the tokens of each row of the batch begin when they follow each other, and the end;
// positions [1, tokens], their places in the padded batch (row * sequence + column); columns [1, tokens]; and, if asked for, places
// [batch, sequence], where a kept token lies among the packed ones, else 0. `multiple`: tokens are that many or a multiple; those that
// are added stand for position 0 and lie behind the last offset, and there is at least one where the batch is not empty.
// strict=1: the mask must hold 0 and 1 only, as the model's arithmetic on it means something else by other numbers.
#include <algorithm>

#include "base/checked.h"
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const DType type = call.dtype(0);
  require_sound(type == DType::boolean || type == DType::i64 || type == DType::i32 || type == DType::i8 || type == DType::u8, "a mask is ",
                name(type), ", expected i64, i32, i8, u8 or bool");
  const Dims& mask = call.dims(0);
  const Dim multiple(call.attributes().integer("multiple"));
  call.need(mask.size() == 2, "a mask of [", text(mask), "], [batch, sequence] expected");
  call.need(multiple.constant() >= 1 && multiple.constant() <= 4096, "multiple is ", multiple.text(), ", expected 1 to 4096");
  const Dim most = multiple == Dim(1) ? mask[0] * mask[1] : ceil_div(mask[0] * mask[1], multiple) * multiple;
  const Dim tokens = call.new_symbol("tokens", 0, most);
  call.out(0, DType::i32, {mask[0] + Dim(1)});
  call.out(1, DType::i32, {Dim(1), tokens});
  if (call.outputs() > 2) call.out(2, DType::i32, {Dim(1), tokens});
  if (call.outputs() > 3) call.out(3, DType::i32, mask);
}

// Which tokens are kept, a byte each: the mask is read once, by a loop for its type.
template <class T>
std::int64_t read_mask(const Call& call, std::vector<std::uint8_t>& keep) {
  const TensorRef& mask = call.in[0];
  const bool strict = call.attributes().integer("strict") != 0;
  const T* const from = mask.as<T>();
  const std::int64_t size = mask.size();
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (strict && from[i] != 0 && from[i] != 1)
      fail(ErrorKind::unsupported, cat(ops::describe(call), ": the attention mask holds ", static_cast<double>(from[i]), " at [",
                                       i / mask.shape[1], ", ", i % mask.shape[1],
                                       "]; with packed tokens this model takes 0 and 1 only: set it so, or build without packTokens"));
    keep[static_cast<std::size_t>(i)] = from[i] != 0;
    kept += from[i] != 0;
  }
  return kept;
}
std::int64_t read_mask(const Call& call, std::vector<std::uint8_t>& keep) {
  switch (call.in[0].dtype) {
    case DType::i64: return read_mask<std::int64_t>(call, keep);
    case DType::i32: return read_mask<std::int32_t>(call, keep);
    case DType::boolean: return read_mask<std::uint8_t>(call, keep);
    case DType::i8: return read_mask<std::int8_t>(call, keep);
    case DType::u8: return read_mask<std::uint8_t>(call, keep);
    default: fail(ErrorKind::unsupported, cat(ops::describe(call), ": a mask of ", name(call.in[0].dtype)));
  }
}

void reference(Call& call) {
  const TensorRef& mask = call.in[0];
  const std::int64_t batch = mask.shape[0], sequence = mask.shape[1], multiple = call.attributes().integer("multiple");
  require(mask.size() < (std::int64_t{1} << 31), ErrorKind::unsupported, ops::describe(call), ": more than 2^31 tokens");
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(mask.size()));
  const std::int64_t kept = read_mask(call, keep);
  const std::int64_t tokens = mask.size() == 0 ? 0 : std::max(round_up(kept, multiple), multiple);
  ops::settle_shape(call, 1, {1, tokens});
  if (call.out.size() > 2) ops::settle_shape(call, 2, {1, tokens});
  auto* const offsets = call.out[0].as<std::int32_t>();
  auto* const positions = call.out[1].as<std::int32_t>();
  auto* const columns = call.out.size() > 2 ? call.out[2].as<std::int32_t>() : nullptr;
  auto* const places = call.out.size() > 3 ? call.out[3].as<std::int32_t>() : nullptr;
  std::int32_t next = 0, at = 0;
  for (std::int64_t row = 0; row < batch; ++row) {
    offsets[row] = next;
    for (std::int32_t column = 0; column < sequence; ++column, ++at) {
      const bool kept_here = keep[static_cast<std::size_t>(at)] != 0;
      if (places) places[at] = kept_here ? next : 0;
      if (!kept_here) continue;
      positions[next] = at;
      if (columns) columns[next] = column;
      ++next;
    }
  }
  offsets[batch] = next;
  std::fill(positions + next, positions + tokens, 0);
  if (columns) std::fill(columns + next, columns + tokens, 0);
}

}  // namespace

OpDef op_token_positions() {
  return {.name = "TokenPositions",
          .max_inputs = 1,
          .min_outputs = 2,
          .max_outputs = 4,
          .attributes = {{"multiple", 1}, {"strict", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"i64[2,3]{1,1,0,1,0,0} outputs=4", "bool[2,2]{0,1,1,1}", "i32[3,4]{0,0,0,0,1,0,1,1,0,0,0,0} multiple=4 outputs=3",
                    "i64[2,3]{0,0,0,0,0,0} strict=1 outputs=4", "i64[0,5]", "i64[1,4]{-1,0,7,1}"}};
}

}  // namespace tenfold::ir
