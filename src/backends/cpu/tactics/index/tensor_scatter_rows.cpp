// tensor_scatter_rows: TensorScatter as copies: the cache, unless the result lies there already, then each batch entry's update to its
// place.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  DType positions = DType::i64;
  bool has_positions = false, circular = false;
  int axis = 0;
};
Verdict supports(const Problem& p) {
  const bool positions = p.in.size() > 2 && !p.in[2].missing;
  if (positions && p.in[2].dtype != DType::i64 && p.in[2].dtype != DType::i32) return Verdict::no("positions are not i32 or i64");
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  const auto axis = static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
  for (std::size_t d = 0; d < p.in[0].dims.size(); ++d)
    if (d != axis && p.in[0].dims[d] != p.in[1].dims[d]) return Verdict::no("extents beside the axis may differ");
  if (p.bounds(p.in[1].dims[axis] - p.in[0].dims[axis]).upper > 0) return Verdict::no("the update may be longer than the cache");
  return can_move(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  auto kernel = std::make_shared<Kernel>();
  kernel->move = open_move(p);
  kernel->has_positions = p.in.size() > 2 && !p.in[2].missing;
  if (kernel->has_positions) kernel->positions = p.in[2].dtype;
  kernel->circular = p.attributes->string("mode") == "circular";
  kernel->axis = static_cast<int>((p.attributes->integer("axis") + rank) % rank);
  return kernel;
}

// Where the entry begins; below 0: the update does not fit there.
int64_t position(const Kernel& kernel, const RunArgs& args, int64_t entry) noexcept {
  const int64_t max = args.out[0].dims[kernel.axis], requested = args.in[1].dims[kernel.axis];
  const int64_t at = kernel.has_positions ? integer_at(args.in[2], kernel.positions, entry) : 0;
  return at >= 0 && at < max && requested <= (kernel.circular ? max : max - at) ? at : -1;
}

// `count` places of an entry's update, from `from` on, to `to` of the result.
void write(const Kernel& kernel, const RunArgs& args, int64_t entry, int64_t from, int64_t to, int64_t count) noexcept {
  const Bound &update = args.in[1], &out = args.out[0];
  const int64_t bytes = kernel.move->element_bytes();
  int64_t dims[kMaxRank];
  for (int d = 0; d < update.rank; ++d) dims[d] = update.dims[d];
  dims[0] = 1, dims[kernel.axis] = count;
  kernel.move->copy.run(*args.parallel, dims, update.rank,
                        out.as<char>() + (entry * out.strides[0] + to * out.strides[kernel.axis]) * bytes, out.strides,
                        update.as<const char>() + (entry * update.strides[0] + from * update.strides[kernel.axis]) * bytes, update.strides);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &cache = args.in[0], &update = args.in[1], &out = args.out[0];
  if (kernel.has_positions && args.in[2].dims[0] != out.dims[0]) return Status::bad_index;
  for (int64_t b = 0; b < out.dims[0]; ++b)   // before anything is written: the result may be the cache
    if (update.dims[kernel.axis] > 0 && position(kernel, args, b) < 0) return Status::bad_index;
  if (out.data != cache.data)
    kernel.move->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, cache.as<const char>(), cache.strides);
  const int64_t count = update.dims[kernel.axis], max = out.dims[kernel.axis];
  for (int64_t b = 0; b < out.dims[0] && count > 0; ++b) {
    const int64_t at = position(kernel, args, b), first = std::min(count, max - at);
    write(kernel, args, b, 0, at, first);
    if (first < count) write(kernel, args, b, first, 0, count - first);   // around the end
  }
  return Status::ok;
}

bool may_alias(const Problem&, int in, int out) { return in == 0 && out == 0; }

}  // namespace

Tactic cpu_tensor_scatter_rows() {
  return {.name = "tensor_scatter_rows",
          .ops = {"TensorScatter"},
          .supports = supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"TensorScatter f32[3,4,40,33] f32[3,4,7,33] i64[3]{0,33,12}",
                    "TensorScatter f16[2,50,70] f16[2,9,70] i64[2]{47,3} mode=\"circular\""}};
}

}  // namespace tenfold::backends
