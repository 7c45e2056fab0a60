// one_hot_rows: OneHot whose new axis is the innermost one, row by row: the off-value, and the on-value at the index.
#include <algorithm>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  DType index_type;
  int element_bytes;
};
Verdict supports(const Problem& p) {
  if (p.in[0].dtype != DType::i64 && p.in[0].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  const auto rank = static_cast<int>(p.out[0].dims.size());
  if (wrapped(p.attributes->integer("axis"), rank) != rank - 1) return Verdict::no("the new axis is not the innermost one");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{p.in[0].dtype, bits(p.out[0].dtype) / 8});
}

template <class T>
Status::Code rows(const RunArgs& args, DType index_type) noexcept {
  const Bound& out = args.out[0];
  const int64_t depth = out.dims[out.rank - 1];
  const T off = args.in[2].as<const T>()[0], on = args.in[2].as<const T>()[1];
  for_row_parts(*args.parallel, product(out.dims, 0, out.rank - 1), rows_per_part(depth), [&](int64_t first, int64_t last, int) {
    std::fill(out.as<T>() + first * depth, out.as<T>() + last * depth, off);
    for (int64_t r = first; r < last; ++r) {
      int64_t i = integer_at(args.in[0], index_type, r);
      if (i < 0) i += depth;
      if (i >= 0 && i < depth) out.as<T>()[r * depth + i] = on;   // outside: nothing is on, as ONNX has it
    }
  });
  return Status::ok;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  if (product(args.in[2].dims, 0, args.in[2].rank) != 2) return Status::invalid_shape;
  switch (kernel.element_bytes) {
    case 1: return rows<std::uint8_t>(args, kernel.index_type);
    case 2: return rows<std::uint16_t>(args, kernel.index_type);
    case 4: return rows<std::uint32_t>(args, kernel.index_type);
    default: return rows<std::uint64_t>(args, kernel.index_type);
  }
}

}  // namespace

Tactic cpu_one_hot_rows() {
  return {.name = "one_hot_rows",
          .ops = {"OneHot"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"OneHot i64[70](-90,89) i64[]{80} f32[2]{0,1}", "OneHot i32[5,9](0,12) i64[1]{12} f16[2]{-1,2}",
                    "OneHot i64[33](0,4) i32[]{5} i8[2]{3,-3} axis=1"}};
}

}  // namespace tenfold::backends
