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
// Rows [first, last) of the result; false: an index lies outside.
template <class Copy>
bool copy_rows(const Kernel& kernel, const RunArgs& args, int64_t count, int64_t extent, int64_t first, int64_t last,
               Copy&& copy) noexcept {
  int64_t entry = first / count * extent, at = first % count;
  for (int64_t r = first; r < last; ++r) {
    int64_t i = integer_at(args.in[1], kernel.index_type, at);
    if (i < 0) i += extent;
    if (i < 0 || i >= extent) return false;
    copy(r, entry + i);
    if (++at == count) at = 0, entry += extent;
  }
  return true;
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
    const auto rows = [&](auto&& copy) { return copy_rows(kernel, args, count, extent, first, last, copy); };
    const auto elements = [&](auto element) {
      using T = decltype(element);
      return rows([&](int64_t r, int64_t i) { reinterpret_cast<T*>(to)[r] = reinterpret_cast<const T*>(from)[i]; });
    };
    const bool inside =
        row == 4   ? elements(std::uint32_t{})
        : row == 8 ? elements(std::uint64_t{})
                   : rows([&](int64_t r, int64_t i) { kernel.move->copy.kernels->copy_rows(to + r * row, 0, from + i * row, 0, 1, row); });
    if (!inside) outside.store(true, std::memory_order_relaxed);
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
          .cases = {"Gather f32[100,70] i64[40,11](-100,99)", "Gather f32[30,70] i64[40](-70,69) axis=1",
                    "Gather i64[9,33] i32[2,5](0,32) axis=1"}};
}

}  // namespace tenfold::backends
