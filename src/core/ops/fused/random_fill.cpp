// RandomFill (internal): numbers of one distribution, in the shape that operand 0 holds.
//
// With a seed every run gives the same numbers; without one each run gives others. `seed` starts splitmix64, whose numbers are independent
// of each other; `mt19937`, an integer, the Mersenne twister, two of whose numbers are one of 53 bits: so does NumPy's RandomState.
#include <atomic>
#include <bit>
#include <cmath>
#include <random>

#include "base/types/element.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const auto type = dtype_from_name(call.attributes().string("dtype"));
  call.validate(type && is_float(*type), "random numbers are floats, not ", call.attributes().string("dtype"));
  const std::int64_t twister = call.attributes().integer("mt19937", 0);
  call.supported(twister >= 0 && twister <= UINT32_MAX, "the seed is ", twister, ", 0 to 2^32 - 1 are supported");
  const std::string& kind = call.attributes().string("distribution");
  call.validate(kind == "normal" || kind == "uniform", "distribution is '", kind, "', normal or uniform expected");
  call.out(0, *type, ops::need_shape(call, 0));
}

// Number i of a stream: splitmix64 of a counter, so that any element can be computed by itself.
double unit(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t x = stream + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (static_cast<double>((x ^ x >> 31) >> 11) + 0.5) * 0x1p-53;   // never 0 or 1
}

std::uint64_t next_stream() {
  static std::atomic<std::uint64_t> streams{std::uint64_t{std::random_device{}()} << 32};
  return streams.fetch_add(0xd1b54a32d192ed03u);
}

void fill_by_mt19937(Call& call, std::uint32_t seed) {
  std::mt19937 twister(seed);
  for (std::int64_t i = 0; i < call.out[0].size(); ++i) {
    const std::uint64_t high = twister() >> 5, low = twister() >> 6;
    store_double(call.out[0].dtype, call.out[0].data, i, static_cast<double>(high << 26 | low) * 0x1p-53);
  }
}

void reference(Call& call) {
  ops::set_output_shape(call, 0, ops::read_ints(call.in[0]));
  const Attributes& a = call.attributes();
  if (a.has("mt19937")) return fill_by_mt19937(call, static_cast<std::uint32_t>(a.integer("mt19937")));
  const bool seeded = a.has("seed");
  const std::uint64_t stream = seeded ? std::uint64_t{std::bit_cast<std::uint32_t>(a.number("seed"))} << 20 : next_stream();
  const double first = a.number("a"), second = a.number("b");  // mean and deviation, or both ends
  const bool normal = a.string("distribution") == "normal";
  for (std::int64_t i = 0; i < call.out[0].size(); ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    const double value = normal
                             ? first + second * std::sqrt(-2 * std::log(unit(stream, 2 * n))) * std::cos(2 * M_PI * unit(stream, 2 * n + 1))
                             : first + (second - first) * unit(stream, n);
    store_double(call.out[0].dtype, call.out[0].data, i, value);
  }
}

}  // namespace

OpDef op_random_fill() {
  return {.name = "RandomFill",
          .types = "int -> float",
          .attributes = {{"distribution", "uniform"}, {"a", 0.0f}, {"b", 1.0f}, {"dtype", "f32"}},
          .optional_attributes = "seed: float, mt19937: int",
          .infer = infer,
          .reference = reference,
          .pure = false};
}

}  // namespace tenfold::ir
