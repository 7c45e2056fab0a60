// scatter_nd_rows: ScatterND without a reduction as copies: the data, unless the result lies there already, then a row for each index, in
// their order, so that of equal ones the last stays. Where indices are few, each part of the result is copied and written to at once.
#include <algorithm>

#include "backends/cpu/tactics/movement_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  DType index_type;
};
Verdict supports(const Problem& p) {
  if (p.attributes->string("reduction") != "none") return Verdict::no("updates are reduced");
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (Verdict v = can_move(p); !v) return v;
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{open_move(p), p.in[1].dtype});
}

// Where row `row` of the updates goes, in elements; below 0: outside.
int64_t target_of(const Kernel& kernel, const Bound& index, const Bound& out, int64_t row, int64_t depth) noexcept {
  int64_t target = 0;
  for (int d = 0; d < depth; ++d) {
    int64_t i = integer_at(index, kernel.index_type, row * depth + d);
    if (i < 0) i += out.dims[d];
    if (i < 0 || i >= out.dims[d]) return -1;
    target += i * out.strides[d];
  }
  return target;
}

constexpr int64_t kPart = 32 << 10;   // elements of the result

// Elements [begin, end) of the result.
struct Writer {
  const Kernel& kernel;
  const RunArgs& args;
  int64_t count, depth, row;   // of indices; dims that each names; elements that each writes

  void operator()(int64_t begin, int64_t end) const noexcept {
    const Bound &data = args.in[0], &index = args.in[1], &updates = args.in[2], &out = args.out[0];
    const int64_t bytes = kernel.move->element_bytes();
    const auto copy = [&](int64_t to, const Bound& source, int64_t from, int64_t elements) {
      kernel.move->copy.kernels->copy_rows(out.as<char>() + to * bytes, 0, source.as<const char>() + from * bytes, 0, 1, elements * bytes);
    };
    if (out.data != data.data) copy(begin, data, begin, end - begin);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t target = target_of(kernel, index, out, r, depth), first = std::max(target, begin), last = std::min(target + row, end);
      if (first < last) copy(first, updates, r * row + first - target, last - first);
    }
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &data = args.in[0], &index = args.in[1], &updates = args.in[2], &out = args.out[0];
  const int64_t depth = index.dims[index.rank - 1], count = product(index.dims, 0, index.rank - 1), bytes = kernel.move->element_bytes();
  const auto deep = static_cast<int>(depth);
  for (int d = 0; d < updates.rank; ++d)
    if (updates.dims[d] != (d < index.rank - 1 ? index.dims[d] : out.dims[deep + d - (index.rank - 1)])) return Status::invalid_shape;
  const int64_t row = product(out.dims, deep, out.rank);
  for (int64_t r = 0; r < count; ++r)   // before anything is written: the result may be the data
    if (target_of(kernel, index, out, r, depth) < 0) return Status::bad_index;
  const Writer write{kernel, args, count, depth, row};
  const int64_t all = product(out.dims, 0, out.rank), parts = ceil_div(all, kPart);
  if (count * parts <= all / 16) {   // every part goes through all indices
    args.parallel->for_each(parts, [&](int64_t part, int) { write(part * kPart, std::min(all, (part + 1) * kPart)); });
    return Status::ok;
  }
  if (out.data != data.data) kernel.move->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, data.data, data.strides);
  for (int64_t r = 0; r < count; ++r)
    kernel.move->copy.kernels->copy_rows(out.as<char>() + target_of(kernel, index, out, r, depth) * bytes, 0,
                                         updates.as<const char>() + r * row * bytes, 0, 1, row * bytes);
  return Status::ok;
}

bool may_alias(const Problem&, int in, int out) { return in == 0 && out == 0; }

}  // namespace

Tactic cpu_scatter_nd_rows() {
  return {.name = "scatter_nd_rows",
          .ops = {"ScatterND"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          // No index twice: on a GPU either of the two rows may be the last.
          .cases = {"ScatterND f32[90,40] i64[8,1]{-90,89,3,-4,17,-45,60,8} f32[8,40]",
                    "ScatterND f16[9,8,33] i64[2,3,2]{0,0,-1,-1,4,-8,-9,3,8,0,2,7} f16[2,3,33]",
                    "ScatterND f32[70,1100] i64[3,1]{69,29,30} f32[3,1100]",   // rows that two parts share
                    "ScatterND i64[300] i32[9,1]{0,299,7,150,151,33,298,64,200} i64[9]"}};
}

}  // namespace tenfold::backends
