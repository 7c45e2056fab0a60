// Reshape: the same elements under another shape. 0 in the shape copies the input's extent, -1 is what is left over.
#include <algorithm>

#include "base/checked.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// What is left of `total` elements after `known` extents. Equal factors cancel first, so that sums divide too.
Dim left_over(const InferCall& call, Dims total, const Dims& known) {
  Dim divisor(1);
  for (Dim d : known) {
    const auto same = std::find(total.begin(), total.end(), d);
    if (same != total.end()) {
      total.erase(same);
    } else {
      divisor = divisor * d;
    }
  }
  const Dim count = product(total);
  call.check_shape(!(divisor == Dim(0)), "-1 in the shape stands for any extent, since the others have a product of 0");
  call.check_shape(!(count.is_constant() && divisor.is_constant()) || count.constant() % divisor.constant() == 0, count.text(),
            " elements do not divide by ", divisor.text());
  return floor_div(count, divisor);
}

Dims solve(const InferCall& call, const Dims& requested) {
  const Dims& from = call.dims(0);
  const bool allow_zero = call.attributes().integer("allowzero") != 0;
  int open = -1;
  Dims dims, known;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    Dim extent = requested[i];
    if (extent == Dim(-1)) {
      call.check_shape(open < 0, "the shape ", text(requested), " has more than one -1");
      open = static_cast<int>(i);
    } else {
      if (extent == Dim(0) && !allow_zero) {
        call.check_shape(i < from.size(), "0 at position ", i, " of the shape has no extent to copy: the input has rank ", from.size());
        extent = from[i];
      }
      call.check_shape(!extent.is_constant() || extent.constant() >= 0, "the shape has a negative extent, ", extent.text());
      known.push_back(extent);
    }
    dims.push_back(extent);
  }
  if (open >= 0) {
    dims[static_cast<std::size_t>(open)] = left_over(call, from, known);
  } else {
    const Dim surplus = product(dims) - product(from);
    call.check_shape(!surplus.is_constant() || surplus.constant() == 0, "cannot reshape [", text(from), "] to [", text(dims), "]");
  }
  return dims;
}

void infer(InferCall& call) {
  Dims dims;
  if (const Dims* requested = call.contents(1)) {
    dims = solve(call, *requested);
  } else {
    const Dim total = product(call.dims(0));
    const int rank = ops::need_length(call, 1, "shape");
    if (rank == 1) dims = {total};
    const Dim max = total == Dim(0) ? Dim(kUnbounded) : total;   // beside an extent of 0 the others may be anything
    for (int d = 0; d < rank && rank > 1; ++d) dims.push_back(call.new_symbol(cat("extent", d), 0, max));
  }
  call.out(0, call.dtype(0), std::move(dims));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

// The shape that the operand's values ask for, by the same rules as above but on numbers.
Shape solve(const Call& call) {
  const TensorRef& from = call.in[0];
  Shape shape = ops::read_ints(call.in[1]);
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && call.attributes().integer("allowzero") == 0 && i < from.shape.size()) shape[i] = from.shape[i];
    if (shape[i] == -1 && open < 0) {
      open = static_cast<std::ptrdiff_t>(i);
    } else {
      known = checked_mul(known, shape[i]);
    }
  }
  if (open >= 0) shape[static_cast<std::size_t>(open)] = known > 0 && from.size() % known == 0 ? from.size() / known : -1;
  const bool fits = std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }) && element_count(shape) == from.size();
  call.check_shape(fits, "cannot reshape ", text(from.shape), " to ", text(ops::read_ints(call.in[1])));
  return shape;
}

void reference(Call& call) {
  ops::set_output_shape(call, 0, solve(call));
  ops::copy_whole(call);
}

}  // namespace

OpDef op_reshape() {
  return {.name = "Reshape",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {{"allowzero", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::reshape, .narrows = true},
          .cases = {"f32[2,3,4] i64[2]{4,-1}", "f32[2,3,4] i64[4]{0,1,-1,2}", "f32[1] i64[0]{}", "i4[2,6] i64[2]{3,4}",
                    "f32[0,3] i64[2]{3,0} allowzero=1"}};
}

}  // namespace tenfold::ir
