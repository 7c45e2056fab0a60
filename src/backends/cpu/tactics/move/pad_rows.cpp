// pad_rows: Pad with a constant: fills, then copies what is kept of the input into its place.
#include <algorithm>
#include <cstring>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  DType axes_type = DType::i64;
  bool has_value, has_axes;
};
Verdict supports(const Problem& p) {
  if (p.attributes->string("mode") != "constant") return Verdict::no("pad_modes_rows has the modes other than constant");
  if (p.in[1].dtype != DType::i64) return Verdict::no("pads are not i64");
  return can_move(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->move = open_move(p);
  kernel->has_value = p.in.size() > 2 && !p.in[2].missing;
  kernel->has_axes = p.in.size() > 3 && !p.in[3].missing;
  if (kernel->has_axes) kernel->axes_type = p.in[3].dtype;
  return kernel;
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  const int64_t bytes = kernel.move->element_bytes(), count = args.in[1].dims[0] / 2, zero[kMaxRank] = {};
  const std::uint64_t nothing = 0;
  kernel.move->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, kernel.has_value ? args.in[2].data : &nothing, zero);
  int64_t dims[kMaxRank], first[kMaxRank] = {};
  for (int a = 0; a < in.rank; ++a) dims[a] = in.dims[a];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t given = kernel.has_axes ? integer_at(args.in[3], kernel.axes_type, i) : i, axis = given < 0 ? given + in.rank : given;
    if (axis < 0 || axis >= in.rank) return Status::invalid_input;
    first[axis] = std::clamp(args.in[1].as<const int64_t>()[i], -in.dims[axis], out.dims[axis]);
  }
  const char* from = in.as<const char>();
  char* to = out.as<char>();
  for (int a = 0; a < in.rank; ++a) {  // the part of the input that lies within the output
    const int64_t begin = std::max<int64_t>(0, -first[a]), end = std::min(in.dims[a], out.dims[a] - first[a]);
    if (end <= begin) return Status::ok;
    dims[a] = end - begin;
    from += begin * in.strides[a] * bytes;
    to += (begin + first[a]) * out.strides[a] * bytes;
  }
  kernel.move->copy.run(*args.parallel, dims, in.rank, to, out.strides, from, in.strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_pad_rows() {
  return {.name = "pad_rows",
          .ops = {"Pad"},
          .supports = supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"Pad f32[2,20,30] i64[6]{0,1,2,3,-1,4} f32[]{2}"}};
}

}  // namespace tenfold::backends
