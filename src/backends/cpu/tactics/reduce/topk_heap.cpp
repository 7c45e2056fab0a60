// topk_heap: TopK of f32 along any axis, with a heap of the best so far; equal values keep their order, NaN counts as the largest.
#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMax = 1024;  // the heap lies on the stack

Verdict supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  if (p.in[0].dtype != DType::f32) return Verdict::no(cat("elements of type ", name(p.in[0].dtype)));
  if (p.in[0].dims.empty()) return Verdict::no("a scalar");
  if (!p.in[1].constant) return Verdict::no("k is not constant");
  if (p.out[0].missing || p.out[1].missing) return Verdict::no("an output is not wanted");
  const int axis = wrapped(p.attributes->integer("axis"), static_cast<int>(p.in[0].dims.size()));
  if (p.bounds(p.out[0].dims[static_cast<std::size_t>(axis)]).upper > kMax) return Verdict::no(cat("k may be more than ", kMax));
  return dense_plain(p);
}

struct Kernel {
  int64_t axis;
  bool largest;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{p.attributes->integer("axis"), p.attributes->integer("largest") != 0});
}

struct Entry {
  std::int32_t key;
  float value;
  int64_t index;
  bool operator<(const Entry& other) const { return key != other.key ? key > other.key : index < other.index; }  // the better one first
};
// Integers in the order of floats; the two zeros are equal, every NaN is above infinity.
std::int32_t key_of(float value, bool largest) {
  const auto bits = std::bit_cast<std::int32_t>(value + 0.f);
  const std::int32_t key = std::isnan(value) ? INT32_MAX : bits < 0 ? bits ^ INT32_MAX : bits;
  return largest ? key : ~key;
}

// The first element from i on that may be better than the worst of the best; n: none. Of equal ones the first stays. A comparison is
// false where either is NaN.
template <bool kLargest>
int64_t skip(const float* x, int64_t stride, int64_t i, int64_t n, float worst) {
  constexpr int64_t kBlock = 16;   // a count that the compiler knows, so that it makes vectors of it
  for (; stride == 1 && i + kBlock <= n; i += kBlock) {
    std::int32_t worse = 0;
    for (int64_t b = 0; b < kBlock; ++b) worse += kLargest ? x[i + b] <= worst : x[i + b] >= worst;
    if (worse != kBlock) break;
  }
  while (i < n && (kLargest ? x[i * stride] <= worst : x[i * stride] >= worst)) ++i;
  return i;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int axis = wrapped(kernel.axis, x.rank);
  const int64_t outer = product(x.dims, 0, axis), n = x.dims[axis], inner = product(x.dims, axis + 1, x.rank), k = args.out[0].dims[axis];
  if (k > n || k > kMax) return Status::invalid_shape;
  if (k == 0) return Status::ok;
  for_row_parts(*args.parallel, outer * inner, rows_per_part(n * 4), [&](int64_t first, int64_t last, int) {
    Entry best[kMax];
    for (int64_t r = first; r < last; ++r) {
      const float* from = x.as<const float>() + r / inner * n * inner + r % inner;
      for (int64_t i = 0; i < n; ++i) {
        if (i >= k) {
          i = (kernel.largest ? skip<true> : skip<false>)(from, inner, i, n, best[0].value);
          if (i == n) break;
        }
        const Entry entry{key_of(from[i * inner], kernel.largest), from[i * inner], i};
        if (i < k) {
          best[i] = entry;
          if (i + 1 == k) std::make_heap(best, best + k);  // the worst of the best on top
        } else if (entry < best[0]) {
          std::pop_heap(best, best + k);
          best[k - 1] = entry;
          std::push_heap(best, best + k);
        }
      }
      std::sort(best, best + k);
      const int64_t to = r / inner * k * inner + r % inner;
      for (int64_t i = 0; i < k; ++i) {
        args.out[0].as<float>()[to + i * inner] = best[i].value;
        args.out[1].as<int64_t>()[to + i * inner] = best[i].index;
      }
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_topk_heap() {
  return {.name = "topk_heap",
          .ops = {"TopK"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"TopK f32[3,1000] i64[1]{20}",
                    "TopK f32[3,200,7] i64[1]{9} axis=1 largest=0"}};
}

}  // namespace tenfold::backends
