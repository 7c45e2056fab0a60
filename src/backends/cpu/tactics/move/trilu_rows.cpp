// trilu_rows: Trilu row by row: what is kept is copied, the rest of the row is zeros.
#include <algorithm>
#include <cstring>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  bool upper, has_diagonal;
  DType diagonal_type;
  int64_t element_bytes;
};
Verdict supports(const Problem& p) {
  if (p.in.size() > 1 && !p.in[1].missing && p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32)
    return Verdict::no("the diagonal is not i32 or i64");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const bool given = p.in.size() > 1 && !p.in[1].missing;
  return std::make_shared<Kernel>(
      Kernel{p.attributes->integer("upper") != 0, given, given ? p.in[1].dtype : DType::i64, bits(p.out[0].dtype) / 8});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  if (kernel.has_diagonal && product(args.in[1].dims, 0, args.in[1].rank) != 1) return Status::invalid_shape;
  const int64_t height = x.dims[x.rank - 2], width = x.dims[x.rank - 1], bytes = kernel.element_bytes;
  const int64_t requested = kernel.has_diagonal ? integer_at(args.in[1], kernel.diagonal_type, 0) : 0;
  const int64_t diagonal = std::clamp(requested, -height - 1, width + 1);   // beyond these it changes nothing
  for_row_parts(*args.parallel, product(x.dims, 0, x.rank - 1), rows_per_part(width), [&](int64_t first, int64_t last, int) {
    for (int64_t r = first; r < last; ++r) {
      const char* from = x.as<const char>() + r * width * bytes;
      char* to = args.out[0].as<char>() + r * width * bytes;
      // Where the kept part begins or ends.
      const int64_t edge = std::clamp<int64_t>(r % height + diagonal + (kernel.upper ? 0 : 1), 0, width);
      const int64_t begin = kernel.upper ? edge : 0, end = kernel.upper ? width : edge;
      std::memset(to, 0, static_cast<std::size_t>(begin * bytes));
      std::memcpy(to + begin * bytes, from + begin * bytes, static_cast<std::size_t>((end - begin) * bytes));
      std::memset(to + end * bytes, 0, static_cast<std::size_t>((width - end) * bytes));
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_trilu_rows() {
  return {.name = "trilu_rows",
          .ops = {"Trilu"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Trilu f32[3,20,31]", "Trilu f16[2,40,33] i64[]{-3} upper=0", "Trilu f32[9,9] i64[]{-9223372036854775807}",
                    "Trilu i64[2,70,50] i64[]{100} upper=0"}};
}

}  // namespace tenfold::backends
