// gather_elements_rows: GatherElements row by row of the indices: along the innermost axis within one row of the data, along others from
// rows of which each column has its own.
#include <atomic>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  int64_t axis;
  DType index_type;
  int element_bytes;
};
Verdict supports(const Problem& p) {
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (p.in[0].dims.empty()) return Verdict::no("a scalar");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{p.attributes->integer("axis"), p.in[1].dtype, bits(p.out[0].dtype) / 8});
}

// A row of the result: to[c] = from[index[c] * step + c * column], both in elements; false: an index lies outside.
template <class T, class Index>
bool gather(T* to, const T* from, const Index* index, int64_t count, int64_t extent, int64_t step, int64_t column) {
  for (int64_t c = 0; c < count; ++c) {
    int64_t i = index[c];
    if (i < 0) i += extent;
    if (i < 0 || i >= extent) return false;
    to[c] = from[i * step + c * column];
  }
  return true;
}

template <class T, class Index>
Status::Code rows(const RunArgs& args, int axis) noexcept {
  const Bound &data = args.in[0], &index = args.in[1];
  const int inner = data.rank - 1;
  for (int d = 0; d < data.rank; ++d)
    if (d != axis && index.dims[d] > data.dims[d]) return Status::invalid_shape;
  const int64_t count = index.dims[inner], extent = data.dims[axis], step = data.strides[axis];
  std::atomic<bool> outside{false};
  for_row_parts(*args.parallel, product(index.dims, 0, inner), rows_per_part(count * 4), [&](int64_t first, int64_t last, int) {
    for (int64_t r = first; r < last; ++r) {
      int64_t offset = 0, rest = r;   // of the row's first element in the data, without the axis
      for (int d = inner; d-- > 0; rest /= index.dims[d])
        if (d != axis) offset += rest % index.dims[d] * data.strides[d];
      if (!gather(args.out[0].as<T>() + r * count, data.as<const T>() + offset, index.as<const Index>() + r * count, count, extent, step,
                  static_cast<int64_t>(axis == inner ? 0 : 1))) {
        outside.store(true, std::memory_order_relaxed);
        return;
      }
    }
  });
  return outside ? Status::bad_index : Status::ok;
}

template <class T>
Status::Code of_type(const RunArgs& args, const Kernel& kernel) noexcept {
  const int axis = wrapped(kernel.axis, args.in[0].rank);
  return kernel.index_type == DType::i64 ? rows<T, int64_t>(args, axis) : rows<T, std::int32_t>(args, axis);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  switch (kernel.element_bytes) {
    case 1: return of_type<std::uint8_t>(args, kernel);
    case 2: return of_type<std::uint16_t>(args, kernel);
    case 4: return of_type<std::uint32_t>(args, kernel);
    default: return of_type<std::uint64_t>(args, kernel);
  }
}

}  // namespace

Tactic cpu_gather_elements_rows() {
  return {.name = "gather_elements_rows",
          .ops = {"GatherElements"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"GatherElements f32[30,70] i64[30,20](-70,69) axis=1", "GatherElements f32[4,90,6] i32[3,50,5](-90,89) axis=1",
                    "GatherElements f16[40,7] i64[9,7](0,39)", "GatherElements i64[200] i64[300](-200,199)"}};
}

}  // namespace tenfold::backends
