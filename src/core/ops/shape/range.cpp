// Range: start, start + delta, ... up to but not including limit.
#include <cmath>

#include "base/checked.h"
#include "base/types/element.h"
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// Of an InferCall or a Call.
template <class C>
std::int64_t count_of(const C& call, double start, double limit, double delta) {
  call.check_shape(delta != 0, "delta is 0");
  const double count = std::ceil((limit - start) / delta);
  call.check_shape(count < static_cast<double>(kUnbounded), "it counts from ", start, " to ", limit, " by ", delta,
            ", further than can be counted");
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

// In integers throughout, whose distance may need 64 bits and a sign.
struct Integers {
  std::int64_t start, limit, delta;
  bool is_unsigned;

  template <class C>
  std::int64_t count(const C& call) const {
    call.check_shape(delta != 0, "delta is 0");
    const bool up = is_unsigned || delta > 0;
    const std::int64_t first = up ? start : limit, last = up ? limit : start;
    const auto low = static_cast<std::uint64_t>(first), high = static_cast<std::uint64_t>(last);
    if (is_unsigned ? low >= high : first >= last) return 0;
    const std::uint64_t step = is_unsigned ? static_cast<std::uint64_t>(delta) : unsigned_abs(delta), distance = high - low;
    const std::uint64_t result = distance / step + (distance % step != 0);
    call.check_shape(result < static_cast<std::uint64_t>(kUnbounded), "it counts from ", text(start), " to ", text(limit), " by ",
                     text(delta), ", further than can be counted");
    return static_cast<std::int64_t>(result);
  }
  // Products past 64 bits wrap, and the sums back.
  std::int64_t at(std::int64_t i) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
  }

 private:
  std::string text(std::int64_t value) const {
    return is_unsigned ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  }
};

void infer_numbers(InferCall& call, const Integers& range) {
  const std::int64_t count = range.count(call);
  call.out(0, call.dtype(0), {count});
  if (count > ir::kMaxContents) return;
  Dims values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(range.at(i));
  call.out_contents(0, std::move(values));
}

void infer_integers(InferCall& call) {
  const Dim start = call.contents(0)->at(0), limit = call.contents(1)->at(0), delta = call.contents(2)->at(0);
  if (start.is_constant() && limit.is_constant() && delta.is_constant())
    return infer_numbers(call, {start.constant(), limit.constant(), delta.constant(), call.dtype(0) == DType::u64});
  call.check_shape(!(delta == Dim(0)), "delta is 0");
  const Dim count = ops::DimRules(call).not_negative(ceil_div(limit - start, delta));
  call.out(0, call.dtype(0), {count});
  if (!count.is_constant() || count.constant() > ir::kMaxContents) return;
  Dims values;   // from a symbol on: of positions behind a cache, say
  for (std::int64_t i = 0; i < count.constant(); ++i) values.push_back(start + Dim(i) * delta);
  call.out_contents(0, std::move(values));
}

void infer(InferCall& call) {
  bool constant = true, integers = is_integer(call.dtype(0));
  for (int i = 0; i < 3; ++i) {
    const Dim elements = product(call.dims(i));
    call.check_shape(!elements.is_constant() || elements.constant() == 1, "input ", i, " has ", elements.text(), " elements, 1 expected");
    constant = constant && call.constant(i);
    integers = integers && call.contents(i);
  }
  if (integers) return infer_integers(call);
  if (constant && is_integer(call.dtype(0))) {
    const auto number = [&](int i) { return call.constant(i)->as_int(0); };
    return infer_numbers(call, {number(0), number(1), number(2), call.dtype(0) == DType::u64});
  }
  Dim count;
  if (constant) {
    count = count_of(call, call.constant(0)->as_double(0), call.constant(1)->as_double(0), call.constant(2)->as_double(0));
  } else {
    count = call.new_symbol("count", 0, kUnbounded);
  }
  call.out(0, call.dtype(0), {count});
}

void reference(Call& call) {
  const DType type = call.in[0].dtype;
  for (const TensorRef& operand : call.in)
    call.check_shape(operand.size() == 1, "an operand has ", operand.size(), " elements, 1 expected");
  auto number = [&](std::size_t i) { return load_double(type, call.in[i].data, 0); };
  auto integer = [&](std::size_t i) { return load_int(type, call.in[i].data, 0); };
  if (!is_integer(type)) {
    const std::int64_t count = count_of(call, number(0), number(1), number(2));
    ops::set_output_shape(call, 0, {count});
    for (std::int64_t i = 0; i < count; ++i) store_double(type, call.out[0].data, i, number(0) + static_cast<double>(i) * number(2));
    return;
  }
  const Integers range{integer(0), integer(1), integer(2), type == DType::u64};
  const std::int64_t count = range.count(call);
  ops::set_output_shape(call, 0, {count});
  for (std::int64_t i = 0; i < count; ++i) store_int(type, call.out[0].data, i, range.at(i));
}

}  // namespace

OpDef op_range() {
  return {.name = "Range",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, T, T -> T; T: real|int",
          .attributes = {},
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"i64[]{0} i64[]{10} i64[]{3}", "i32[]{10} i32[]{4} i32[]{-2}", "f32[]{1} f32[]{5} f32[]{0.5}",
                    "i64[]{3} i64[]{3} i64[]{1}"}};
}

}  // namespace tenfold::ir
