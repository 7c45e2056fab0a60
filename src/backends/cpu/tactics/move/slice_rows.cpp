// slice_rows: Slice as a copy from a view; starts and steps are read when it runs.
#include <algorithm>
#include <utility>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  DType types[5];
  bool has_axes, has_steps;
};
Verdict supports(const Problem& p) {
  for (std::size_t i = 1; i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dtype != DType::i64 && p.in[i].dtype != DType::i32)
      return Verdict::no("starts or steps are not i32 or i64");
  return can_move(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->move = open_move(p);
  for (std::size_t i = 0; i < p.in.size() && i < 5; ++i) kernel->types[i] = p.in[i].dtype;
  kernel->has_axes = p.in.size() > 3 && !p.in[3].missing;
  kernel->has_steps = p.in.size() > 4 && !p.in[4].missing;
  return kernel;
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  int64_t first[kMaxRank] = {}, step[kMaxRank], strides[kMaxRank];
  bool is_cut[kMaxRank] = {};
  std::fill_n(step, in.rank, 1);
  for (int64_t i = 0; i < args.in[1].dims[0]; ++i) {
    const int64_t given = kernel.has_axes ? integer_at(args.in[3], kernel.types[3], i) : i, axis = given < 0 ? given + in.rank : given;
    if (axis < 0 || axis >= in.rank || std::exchange(is_cut[axis], true)) return Status::invalid_input;
    const int64_t extent = in.dims[axis];
    if (kernel.has_steps) step[axis] = std::clamp(integer_at(args.in[4], kernel.types[4], i), -extent - 1, extent + 1);
    if (step[axis] == 0) return Status::invalid_input;
    int64_t start = integer_at(args.in[1], kernel.types[1], i);
    if (start < 0) start = std::max<int64_t>(start, -extent) + extent;
    first[axis] = std::min(start, step[axis] > 0 ? extent : extent - 1);
  }
  const char* from = in.as<const char>();
  for (int a = 0; a < in.rank; ++a) {   // the shape was inferred from the same numbers: a last check
    strides[a] = in.strides[a] * step[a];
    if (out.dims[a] == 0) return Status::ok;
    const int64_t last = out.dims[a] <= in.dims[a] ? first[a] + (out.dims[a] - 1) * step[a] : -1;
    if (first[a] < 0 || first[a] >= in.dims[a] || last < 0 || last >= in.dims[a]) return Status::bad_index;
    from += first[a] * in.strides[a] * kernel.move->element_bytes();
  }
  kernel.move->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, from, strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_slice_rows() {
  return {.name = "slice_rows",
          .ops = {"Slice"},
          .supports = supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"Slice f32[9,40,33] i64[2]{7,-2} i64[2]{1,-30} i64[2]{0,2} i64[2]{-2,-3}"}};
}

}  // namespace tenfold::backends
