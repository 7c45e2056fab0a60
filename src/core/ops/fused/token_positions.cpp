// TokenPositions (internal): which tokens of a padded batch a mask of [batch, sequence] keeps (where it is not 0), made by pack_tokens.
//
// Results, all i32: offsets [batch + 1], where the tokens of each row of the batch begin when they follow each other, and the end;
// positions [1, tokens], their places in the padded batch (row * sequence + column); columns [1, tokens]; and, if asked for, places
// [batch, sequence], where a kept token lies among the packed ones, else 0. `multiple`: tokens are that many or a multiple, from 64
// times as many on in steps of a 32nd to a 64th of them, so that there are few numbers of tokens; those that are added stand for position 0
// and lie behind the last offset, and there is at least one where the batch is not empty.
// strict=1: the mask must hold 0 and 1 only, as the model's arithmetic on it means something else by other numbers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/checked.h"
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& mask = call.dims(0);
  const Dim multiple(call.attributes().integer("multiple"));
  call.check_shape(mask.size() == 2, "a mask of [", text(mask), "], [batch, sequence] expected");
  call.validate(multiple.constant() >= 1 && multiple.constant() <= 4096, "multiple is ", multiple.text(), ", expected 1 to 4096");
  const Dim max = multiple == Dim(1) ? mask[0] * mask[1] : ceil_div(mask[0] * mask[1], multiple) * multiple;
  const Dim tokens = call.new_symbol("tokens", 0, max);
  call.out(0, DType::i32, {mask[0] + Dim(1)});
  call.out(1, DType::i32, {Dim(1), tokens});
  if (call.outputs() > 2) call.out(2, DType::i32, {Dim(1), tokens});
  if (call.outputs() > 3) call.out(3, DType::i32, mask);
}

std::int64_t with_added(std::int64_t kept, std::int64_t multiple, std::int64_t all) {
  if (all == 0 || multiple == 1) return all == 0 ? 0 : std::max<std::int64_t>(kept, 1);
  const auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(kept, 1)))) / 32;
  const std::int64_t to = round_up(std::max(step, multiple), multiple);
  return std::min(round_up(std::max<std::int64_t>(kept, 1), to), round_up(all, multiple));
}

void refuse(const Call& call, double found, std::int64_t i) {
  const std::int64_t sequence = call.in[0].shape[1];
  call.supported(false, "the attention mask holds ", found, " at [", i / sequence, ", ", i % sequence,
                 "]; with packed tokens this model takes 0 and 1 only: set it so, or build without packTokens");
}

// Which tokens are kept, a byte each. Eight at a time, for most have neighbors that are like them: a GPU waits for this.
template <class T>
std::int64_t read_mask(const Call& call, std::vector<std::uint8_t>& keep) {
  const bool strict = call.attributes().integer("strict") != 0;
  const T* const from = call.in[0].as<T>();
  std::uint8_t* const to = keep.data();
  const std::size_t size = keep.size();
  std::int64_t kept = 0;
  const auto one = [&](std::size_t i) {
    if (strict && from[i] != 0 && from[i] != 1) refuse(call, static_cast<double>(from[i]), static_cast<std::int64_t>(i));
    kept += to[i] = from[i] != 0;
  };
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    T any = 0, all = static_cast<T>(-1);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) any = static_cast<T>(any | from[i + k]), all = static_cast<T>(all & from[i + k]);
    if (any == all && (any == 0 || any == 1)) {
      std::memset(to + i, any == 1, 8);
      kept += any == 1 ? 8 : 0;
    } else {
      for (std::size_t k = 0; k < 8; ++k) one(i + k);
    }
  }
  for (; i < size; ++i) one(i);
  return kept;
}
std::int64_t read_mask(const Call& call, std::vector<std::uint8_t>& keep) {
  switch (call.in[0].dtype) {
    case DType::i64: return read_mask<std::int64_t>(call, keep);
    case DType::i32: return read_mask<std::int32_t>(call, keep);
    case DType::boolean: return read_mask<std::uint8_t>(call, keep);
    case DType::i8: return read_mask<std::int8_t>(call, keep);
    case DType::u8: return read_mask<std::uint8_t>(call, keep);
    default: check(false, "a mask of ", name(call.in[0].dtype));
  }
  return 0;
}

// first, first + 1, ... to each of so many.
void count_up(std::int32_t* to, std::int32_t count, std::int32_t first) {
  std::int32_t i = 0;
  for (; i + 8 <= count; i += 8) {
#pragma GCC unroll 8
    for (std::int32_t k = 0; k < 8; ++k) to[i + k] = first + i + k;
  }
  for (; i < count; ++i) to[i] = first + i;
}

// Calls `range(first, last)` for each row's runs of kept tokens, by columns. (memchr looks at many at a time.)
template <class Range>
void for_runs(const std::uint8_t* keep, std::int64_t sequence, Range range) {
  const auto find = [&](std::int64_t from, int requested) {
    if (from == sequence) return sequence;   // of no tokens at all there need be no memory
    const void* at = std::memchr(keep + from, requested, static_cast<std::size_t>(sequence - from));
    return at ? static_cast<const std::uint8_t*>(at) - keep : sequence;
  };
  for (std::int64_t first = 0; (first = find(first, 1)) < sequence;) {
    const std::int64_t last = find(first, 0);
    range(first, last);
    first = last;
  }
}

void reference(Call& call) {
  const TensorRef& mask = call.in[0];
  const std::int64_t batch = mask.shape[0], sequence = mask.shape[1], multiple = call.attributes().integer("multiple");
  call.supported(mask.size() < std::int64_t{1} << 31, "more than 2^31 tokens");
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(mask.size()));
  const std::int64_t kept = read_mask(call, keep), tokens = with_added(kept, multiple, mask.size());
  ops::set_output_shape(call, 1, {1, tokens});
  if (call.out.size() > 2) ops::set_output_shape(call, 2, {1, tokens});
  auto* const offsets = call.out[0].as<std::int32_t>();
  auto* const positions = call.out[1].as<std::int32_t>();
  auto* const columns = call.out.size() > 2 ? call.out[2].as<std::int32_t>() : nullptr;
  auto* const places = call.out.size() > 3 ? call.out[3].as<std::int32_t>() : nullptr;
  if (places) std::fill_n(places, mask.size(), 0);
  std::int32_t next = 0;
  for (std::int64_t row = 0; row < batch; ++row) {
    offsets[row] = next;
    const auto begin = static_cast<std::int32_t>(row * sequence);
    for_runs(keep.data() + begin, sequence, [&](std::int64_t from, std::int64_t to) {
      const auto first = static_cast<std::int32_t>(from), count = static_cast<std::int32_t>(to - from);
      count_up(positions + next, count, begin + first);
      if (columns) count_up(columns + next, count, first);
      if (places) count_up(places + begin + first, count, next);
      next += count;
    });
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
          .types = "bool|i64|i32|i8|u8 -> i32, i32, i32, i32",
          .attributes = {{"multiple", 1}, {"strict", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"i64[2,3]{1,1,0,1,0,0} outputs=4", "bool[2,2]{0,1,1,1}", "i32[3,4]{0,0,0,0,1,0,1,1,0,0,0,0} multiple=4 outputs=3",
                    "i64[2,3]{0,0,0,0,0,0} strict=1 outputs=4", "i64[0,5]", "i64[1,4]{-1,0,7,1}"}};
}

}  // namespace tenfold::ir
