// gather_rows: Gather along any axis as copies of rows; an index outside ends the run with bad_index, never outside the memory.
#include <atomic>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  int64_t axis;
  DType index_type;
};
Verdict supports(const Problem& p) {
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{open_move(p), p.attributes->integer("axis"), p.in[1].dtype});
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &data = args.in[0], &index = args.in[1];
  const int axis = wrapped(kernel.axis, data.rank);
  const int64_t outer = product(data.dims, 0, axis), extent = data.dims[axis], count = product(index.dims, 0, index.rank);
  const int64_t row = product(data.dims, axis + 1, data.rank) * kernel.move->element_bytes();
  const char* from = data.as<const char>();
  char* to = args.out[0].as<char>();
  std::atomic<bool> outside{false};
  for_row_parts(*args.parallel, outer * count, rows_per_part(row / 4 + 1), [&](int64_t first, int64_t last, int) {
    for (int64_t r = first; r < last; ++r) {
      int64_t i = integer_at(index, kernel.index_type, r % count);
      if (i < 0) i += extent;
      if (i < 0 || i >= extent) {
        outside.store(true, std::memory_order_relaxed);
        return;
      }
      kernel.move->copy.kernels->copy_rows(to + r * row, 0, from + (r / count * extent + i) * row, 0, 1, row);
    }
  });
  return outside ? Status::bad_index : Status::ok;
}

}  // namespace

Tactic cpu_gather_rows() {
  return {.name = "gather_rows",
          .ops = {"Gather"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Gather f32[100,70] i64[40,11](-100,99)"}};
}

}  // namespace tenfold::backends
