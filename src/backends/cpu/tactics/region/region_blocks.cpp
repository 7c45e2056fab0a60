// region_blocks: any pointwise operator or Region, block by block through the executor; any layout the operands agree on is one long row.
#include "backends/cpu/block/space.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/problems/pointwise_body.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kPart = 16 << 10;  // elements: 64 KB of f32, cache-sized and some microseconds of work

ir::Dims space_of(const Problem& p) {
  ir::Dims space;
  for (const OperandDesc& in : p.in)
    if (!in.missing) space = ir::broadcast(space, in.dims);
  return space;
}

// Along the reduced dims an operand is either whole or constant: then a row is one run of columns.
Verdict reduces_in_rows(const Problem& p, const ir::Body& body) {
  const ir::Dims space = space_of(p);
  const auto reduced = static_cast<std::size_t>(body.reduced_rank);
  if (reduced > space.size()) return Verdict::no("the body reduces more dims than there are");
  const auto is_row = [&](const OperandDesc& operand) {
    bool ones = true, whole = operand.dims.size() >= reduced;
    for (std::size_t i = 0; i < std::min(reduced, operand.dims.size()); ++i) {
      const ir::Dim d = operand.dims[operand.dims.size() - 1 - i];
      ones = ones && d == ir::Dim(1);
      whole = whole && d == space[space.size() - 1 - i];
    }
    return ones || whole;
  };
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& operand : *side) {
      if (operand.missing) continue;
      if (!is_row(operand)) return Verdict::no("an operand is broadcast along some of the reduced dims only");
      if (!operand.dense || operand.layout != kPlain) return Verdict::no("reductions need dense plain operands");
    }
  return Verdict::ok();
}

Verdict supports(const Problem& p) {
  if (!(p.device->features & kAvx2)) return Verdict::no("needs avx2");
  if (!p.op->scalar) return Verdict::no("the operator is not pointwise");
  const ir::Dims space = space_of(p);
  if (space.size() > kMaxRank) return Verdict::no(cat("rank ", space.size(), ", ", kMaxRank, " is possible"));
  const ir::Body body = whole_body(p);
  if (Verdict v = BlockExecutor::supports(body); !v) return v;
  if (body.outputs.size() < p.out.size()) return Verdict::no("more outputs than the body has");
  return body.reduced_rank > 0 ? reduces_in_rows(p, body) : Verdict::ok();
}

// Everything plain; everything with a channel axis in channels-last.
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{std::vector<Layout>(p.in.size(), kPlain), std::vector<Layout>(p.out.size(), kPlain)}};
  const std::size_t rank = space_of(p).size();
  if (rank < 3 || (p.op->traits.region && p.body->reduced_rank > 0)) return all;
  Formats last = all[0];
  for (std::size_t i = 0; i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dims.size() == rank) last.in[i] = kChannelsLast;
  for (std::size_t i = 0; i < p.out.size(); ++i) last.out[i] = kChannelsLast;
  all.push_back(std::move(last));
  return all;
}

struct Kernel {
  BlockExecutor executor;
  std::vector<int> in;  // operands that feed the body
  std::vector<int> in_bytes, out_bytes;
  int reduced = 0;
  int64_t part = 0;  // elements
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  ir::Body body = whole_body(p);
  body.outputs.resize(p.out.size());
  auto kernel = std::make_shared<Kernel>(Kernel{BlockExecutor(body, p.device->features), {}, {}, {}, body.reduced_rank, c[0]});
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    if (p.in[i].missing) continue;
    kernel->in.push_back(static_cast<int>(i));
    kernel->in_bytes.push_back(bits(p.in[i].dtype) / 8);
  }
  for (const OperandDesc& out : p.out) kernel->out_bytes.push_back(bits(out.dtype) / 8);
  return kernel;
}

// Of a few parts one may be left over while other workers wait: smaller ones, too.
std::vector<Config> configs(const Problem& p) {
  int64_t elements = 1;
  for (const ir::Dim& d : space_of(p)) elements = std::min<int64_t>(elements * likely(p, d), 1 << 24);
  if (elements <= kPart / 2 || elements > 6 * kPart) return {{kPart}};
  return {{kPart}, {round_up(ceil_div(elements, int64_t{8}), int64_t{256})}};
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && c[0] >= 256 && c[0] <= 1 << 24, "a part has 256 to 2^24 elements");
}
ir::Dim worker_scratch(const Problem& p, const Config&) { return BlockExecutor(whole_body(p), p.device->features).scratch_bytes(); }

// The numpy broadcast of all operands.
int shape_of(const Kernel& kernel, const RunArgs& args, int64_t* dims) {
  int rank = 0;
  const auto widen = [&](const Bound& b) {
    if (b.rank > rank) {
      std::copy_backward(dims, dims + rank, dims + b.rank);
      std::fill(dims, dims + b.rank - rank, 1);
      rank = b.rank;
    }
    for (int a = 0; a < b.rank; ++a)
      if (dims[rank - b.rank + a] == 1) dims[rank - b.rank + a] = b.dims[a];
  };
  for (int i : kernel.in) widen(args.in[static_cast<std::size_t>(i)]);
  for (const Bound& out : args.out) widen(out);
  return rank;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  int64_t dims[kMaxRank] = {};
  const int rank = shape_of(kernel, args, dims);
  Space space(dims, rank);
  for (const Bound& out : args.out) space.add(out);
  for (int i : kernel.in) space.add(args.in[static_cast<std::size_t>(i)]);
  const int outs = static_cast<int>(args.out.size()), ins = static_cast<int>(kernel.in.size());
  int axes = rank - kernel.reduced;  // of rows
  if (kernel.reduced == 0) space.order(0, 0, rank);
  axes = space.merge(0, axes);
  const int last = space.merge(axes, space.rank);
  if (kernel.reduced == 0 && axes > 0) --axes;  // the innermost axis makes the columns
  const int col_axis = last > axes ? axes : -1;
  const int64_t rows = space.count(0, axes), cols = col_axis >= 0 ? space.extent[col_axis] : 1;
  const Parts parts(rows, cols, kernel.part, kernel.reduced > 0);

  const auto part = [&](int64_t index, int worker) {
    const int64_t r0 = index / parts.col_parts * parts.rows_per_part, r1 = std::min(rows, r0 + parts.rows_per_part);
    const int64_t c0 = index % parts.col_parts * parts.cols_per_part, nc = std::min(cols - c0, parts.cols_per_part);
    TileOperand in[BlockExecutor::kMaxInputs];
    TileResult out[BlockExecutor::kMaxOutputs];
    space.for_runs(axes, r0, r1, [&](const int64_t* offsets, int64_t n) {
      const auto col_stride = [&](int o) { return col_axis >= 0 ? space.stride[o][col_axis] : 0; };
      for (int o = 0; o < outs; ++o)
        out[o] = {static_cast<char*>(args.out[static_cast<std::size_t>(o)].data) +
                      (offsets[o] + c0 * col_stride(o)) * kernel.out_bytes[static_cast<std::size_t>(o)],
                  space.row_stride(o, axes), col_stride(o)};
      for (int i = 0; i < ins; ++i) {
        const int o = outs + i;
        in[i] = {static_cast<const char*>(args.in[static_cast<std::size_t>(kernel.in[static_cast<std::size_t>(i)])].data) +
                     (offsets[o] + c0 * col_stride(o)) * kernel.in_bytes[static_cast<std::size_t>(i)],
                 space.row_stride(o, axes), col_stride(o)};
      }
      kernel.executor.run(n, nc, {in, static_cast<std::size_t>(ins)}, {out, static_cast<std::size_t>(outs)}, args.scratch_of(worker));
    });
  };
  if (parts.count() == 1)
    part(0, 0);
  else
    args.parallel->for_each(parts.count(), part);
  return Status::ok;
}

bool may_alias(const Problem& p, int in, int out) {
  const OperandDesc &a = p.in[static_cast<std::size_t>(in)], &b = p.out[static_cast<std::size_t>(out)];
  return !a.missing && bits(a.dtype) == bits(b.dtype) && a.dims == b.dims && a.layout == b.layout && a.dense && b.dense;
}

}  // namespace

Tactic cpu_region_blocks() {
  return {.name = "region_blocks",
          .ops = {"*pointwise"},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = formats,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"Add f32[4,70,301] f32[70,1]",
                    "Mul f32[2,33,70,5] f32[33,1,1]",
                    "Gelu f32[3,50000](-9,9)",
                    "Add f32[100000] f32[100000]",
                    "HardSwish f32[3,500](-9,9)",
                    "Pow f32[3,500](-9,9) f32[]{2}",
                    "Where bool[3,40,50] f32[50] f32[3,1,50]"}};
}

}  // namespace tenfold::backends
