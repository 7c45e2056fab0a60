// Reductions of scatter updates, for any numeric type.
#include "ops/index/index_common.h"

#include <algorithm>

#include "base/types/element.h"

namespace tenfold::ops {
namespace {

template <class T>
T reduced(Reduction reduction, T a, T b) {
  switch (reduction) {
    case Reduction::add: return static_cast<T>(a + b);
    case Reduction::mul: return static_cast<T>(a * b);
    case Reduction::max: return b != b || a < b ? b : a;   // NaN where either is, as Max and Min have it
    case Reduction::min: return b != b || b < a ? b : a;
    case Reduction::none: break;
  }
  return b;
}

}  // namespace

Reduction reduction_of(const ir::Attributes& attributes) {
  static constexpr std::string_view kNames[] = {"none", "add", "mul", "max", "min"};
  const std::string& name = attributes.string("reduction");
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  ir::validate(found != std::end(kNames), "reduction is '", name, "'; the standard has none, add, mul, max and min");
  return static_cast<Reduction>(found - std::begin(kNames));
}

void expect_reduction(const ir::InferCall& call) {
  const bool reduces = reduction_of(call.attributes()) != Reduction::none;
  call.validate(!reduces || call.dtype(0) != DType::string, "reduction is '", call.attributes().string("reduction"),
             "', but strings cannot be reduced");
}

void combine(Reduction reduction, DType type, void* data, std::int64_t at, const void* updates, std::int64_t from) {
  if (reduction == Reduction::none) return move_elements(type, updates, from, data, at, 1);
  if (!is_integer(type) && type != DType::boolean) {   // a double holds each of these types, and rounds once on the way back
    return store_double(type, data, at, reduced(reduction, load_double(type, data, at), load_double(type, updates, from)));
  }
  const std::int64_t a = load_int(type, data, at), b = load_int(type, updates, from);
  if (type == DType::boolean) return store_int(type, data, at, reduced(reduction, a, b) != 0);
  if (type != DType::u64 && reduction != Reduction::add && reduction != Reduction::mul)
    return store_int(type, data, at, reduced(reduction, a, b));
  const auto wrapped = reduced(reduction, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
  store_int(type, data, at, static_cast<std::int64_t>(wrapped));
}

}  // namespace tenfold::ops
