// scatter_elements_rows: ScatterElements of f32 or without a reduction: a copy of the data, unless the result lies there already, then
// updates in their order, side by side for what the axis does not join.
#include <atomic>

#include "backends/cpu/tactics/movement_common.h"
#include "ops/index/index_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

using ops::Reduction;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  int64_t axis;
  DType index_type;
  Reduction reduction;
};
Verdict supports(const Problem& p) {
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (p.in[0].dims.empty()) return Verdict::no("a scalar");
  if (ops::reduction_of(*p.attributes) != Reduction::none && p.in[0].dtype != DType::f32)
    return Verdict::no("a reduction of a type other than f32");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{open_move(p), p.attributes->integer("axis"), p.in[1].dtype, ops::reduction_of(*p.attributes)});
}

template <class T>
struct Put {
  void operator()(T& a, T b) const { a = b; }
};
struct Add {
  void operator()(float& a, float b) const { a += b; }
};
struct Mul {
  void operator()(float& a, float b) const { a *= b; }
};
struct Larger {   // NaN where either is
  void operator()(float& a, float b) const { a = b != b || a < b ? b : a; }
};
struct Smaller {
  void operator()(float& a, float b) const { a = b != b || b < a ? b : a; }
};

// Rows of the updates [first, last) of one part; false: an index lies outside.
template <class T, class Index, class F>
bool scatter(const RunArgs& args, int axis, int64_t first, int64_t last, F join) noexcept {
  const Bound &index = args.in[1], &out = args.out[0];
  const int inner = out.rank - 1;
  const int64_t count = index.dims[inner], extent = out.dims[axis], step = out.strides[axis], column = axis == inner ? 0 : 1;
  for (int64_t r = first; r < last; ++r) {
    int64_t offset = 0, rest = r;
    for (int d = inner; d-- > 0; rest /= index.dims[d])
      if (d != axis) offset += rest % index.dims[d] * out.strides[d];
    T* to = out.as<T>() + offset;
    const Index* at = index.as<const Index>() + r * count;
    const T* from = args.in[2].as<const T>() + r * count;
    for (int64_t c = 0; c < count; ++c) {
      int64_t i = at[c];
      if (i < 0) i += extent;
      if (i < 0 || i >= extent) return false;
      join(to[i * step + c * column], from[c]);
    }
  }
  return true;
}

template <class T, class Index, class F>
Status::Code parts(const RunArgs& args, int axis, F join) noexcept {
  const Bound& index = args.in[1];
  // What the dims in front of the axis number apart meets in no element.
  const int64_t alone = product(index.dims, 0, axis), rows = product(index.dims, 0, index.rank - 1);
  if (rows == 0 || alone == 0) return Status::ok;
  const int64_t each = axis == index.rank - 1 ? 1 : rows / alone;
  std::atomic<bool> outside{false};
  for_row_parts(*args.parallel, rows / each, rows_per_part(each * index.dims[index.rank - 1] * 4), [&](int64_t first, int64_t last, int) {
    if (!scatter<T, Index>(args, axis, first * each, last * each, join)) outside.store(true, std::memory_order_relaxed);
  });
  return outside ? Status::bad_index : Status::ok;
}

template <class T, class F>
Status::Code typed(const RunArgs& args, const Kernel& kernel, int axis, F join) noexcept {
  return kernel.index_type == DType::i64 ? parts<T, int64_t>(args, axis, join) : parts<T, std::int32_t>(args, axis, join);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &data = args.in[0], &index = args.in[1], &updates = args.in[2], &out = args.out[0];
  const int axis = wrapped(kernel.axis, out.rank);
  for (int d = 0; d < out.rank; ++d)
    if (updates.dims[d] != index.dims[d] || (d != axis && index.dims[d] > out.dims[d])) return Status::invalid_shape;
  if (out.data != data.data) kernel.move->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, data.data, data.strides);
  switch (kernel.reduction) {
    case Reduction::add: return typed<float>(args, kernel, axis, Add{});
    case Reduction::mul: return typed<float>(args, kernel, axis, Mul{});
    case Reduction::max: return typed<float>(args, kernel, axis, Larger{});
    case Reduction::min: return typed<float>(args, kernel, axis, Smaller{});
    case Reduction::none: break;
  }
  switch (kernel.move->element_bytes()) {
    case 1: return typed<std::uint8_t>(args, kernel, axis, Put<std::uint8_t>{});
    case 2: return typed<std::uint16_t>(args, kernel, axis, Put<std::uint16_t>{});
    case 4: return typed<std::uint32_t>(args, kernel, axis, Put<std::uint32_t>{});
    default: return typed<std::uint64_t>(args, kernel, axis, Put<std::uint64_t>{});
  }
}

}  // namespace

Tactic cpu_scatter_elements_rows() {
  return {.name = "scatter_elements_rows",
          .ops = {"ScatterElements"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ScatterElements f32[40,70] i64[30,20](-70,69) f32[30,20] axis=1",
                    "ScatterElements f32[90,33] i32[200,30](-90,89) f32[200,30] reduction=\"add\"",
                    "ScatterElements f16[4,50,6] i64[4,9,5](0,49) f16[4,9,5] axis=1",
                    "ScatterElements f32[7,64] i64[7,90](0,63) f32[7,90] axis=1 reduction=\"max\"",
                    "ScatterElements f32[7,64] i64[7,90](0,63) f32[7,90] axis=1 reduction=\"min\"",
                    "ScatterElements f32[50] i64[90](0,49) f32[90] reduction=\"mul\""}};
}

}  // namespace tenfold::backends
