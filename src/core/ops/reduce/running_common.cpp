// The walk of running sums and products: lines along one axis, from either end, with the element itself or without.
#include "ops/reduce/running_common.h"

#include "base/types/element.h"
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  if (call.has(1)) {
    const Dim elements = product(call.dims(1));
    call.check_shape(!elements.is_constant() || elements.constant() == 1, "the axis has ", elements.text(), " elements, 1 expected");
  } else {
    call.axis(call.attributes().integer("axis"), call.rank(0));
  }
  call.out(0, call.dtype(0), call.dims(0));
}

// f(offset of the first element) for every line along the axis.
template <class F>
void for_each_line(const Shape& shape, std::size_t axis, std::int64_t inner, F&& f) {
  const std::int64_t outer = element_count(std::span(shape).first(axis));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) f(o * shape[axis] * inner + i);
  }
}

}  // namespace

void run_along(Call& call, const Running& running) {
  const TensorRef &in = call.in[0], &out = call.out[0];
  const auto rank = static_cast<std::int64_t>(in.shape.size());
  call.check_shape(!call.has(1) || call.in[1].size() == 1, "the axis is no single number");
  const std::int64_t requested = call.has(1) ? load_int(call.in[1].dtype, call.in[1].data, 0) : call.attributes().integer("axis");
  call.check_shape(requested >= -rank && requested < rank, "axis ", requested, " is out of range for ", rank, " dimensions");
  const auto axis = static_cast<std::size_t>(requested < 0 ? requested + rank : requested);
  const bool exclusive = call.attributes().integer("exclusive") != 0, reverse = call.attributes().integer("reverse") != 0;
  const std::int64_t extent = in.shape[axis], inner = element_count(std::span(in.shape).subspan(axis + 1));
  for_each_line(in.shape, axis, inner, [&](std::int64_t first) {
    double real = running.start;
    std::uint64_t whole = running.start;
    for (std::int64_t e = 0; e < extent; ++e) {
      const std::int64_t at = first + (reverse ? extent - 1 - e : e) * inner;
      const double real_before = real;
      const std::uint64_t whole_before = whole;
      if (is_float(in.dtype)) {
        real = running.real(real, load_double(in.dtype, in.data, at));
        store_double(out.dtype, out.data, at, exclusive ? real_before : real);
      } else {
        whole = running.whole(whole, static_cast<std::uint64_t>(load_int(in.dtype, in.data, at)));
        store_int(out.dtype, out.data, at, static_cast<std::int64_t>(exclusive ? whole_before : whole));
      }
    }
  });
}

OpDef running(std::string name, void (*reference)(Call&), std::vector<std::string> cases) {
  return {.name = std::move(name),
          .max_inputs = 2,
          .types = "T, int -> T; T: number",
          .attributes = {{"axis", 0}, {"exclusive", 0}, {"reverse", 0}},
          .infer = infer,
          .reference = reference,
          .cases = std::move(cases)};
}

}  // namespace tenfold::ir
