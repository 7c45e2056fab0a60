// region_rows: a Region with reductions over the last dims of its space as one kernel; of long rows, where there are few, one for each
// walk.
#include <algorithm>
#include <array>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/region/row_region.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/problems/pointwise_body.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using ir::Dim;
using ir::Dims;

constexpr std::size_t kMaxOperands = 24, kMaxNumbers = 64, kMaxRank = 16;

// One number for each row: an operand of fewer dims than a row, all 1, is that, too.
bool has_ones_last(const Dims& dims, std::size_t count) {
  const auto last = static_cast<std::ptrdiff_t>(std::min(count, dims.size()));
  return std::all_of(dims.end() - last, dims.end(), [](Dim d) { return d == Dim(1); });
}

// The operand along the leading dims of the space, and along the last `reduced` ones.
std::pair<OperandDesc, OperandDesc> halves(const OperandDesc& o, std::size_t reduced) {
  const Dims strides = o.dense ? backends::strides(o.layout, o.dims) : o.strides;
  const auto cut = static_cast<std::ptrdiff_t>(o.dims.size() - std::min(reduced, o.dims.size()));
  OperandDesc first{.dtype = o.dtype, .dims = {o.dims.begin(), o.dims.begin() + cut}, .layout = {}, .dense = false};
  OperandDesc second{.dtype = o.dtype, .dims = {o.dims.begin() + cut, o.dims.end()}, .layout = {}, .dense = false};
  first.strides.assign(strides.begin(), strides.begin() + cut);
  second.strides.assign(strides.begin() + cut, strides.end());
  return {std::move(first), std::move(second)};
}

Verdict as_rows(const Problem& p, RowRegionProblem& r) {
  if (!p.op->scalar || (p.body && !p.op->traits.region)) return Verdict::no("the operator is not pointwise");
  r.body = whole_body(p), r.box = p.box, r.clusters = p.device->arch >= 90;
  if (r.body.reduced_rank == 0) return Verdict::no("nothing is reduced");
  const auto reduced = static_cast<std::size_t>(r.body.reduced_rank);
  Dims space;
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) return Verdict::no("an operand is left out");
      if (!has_c_type(o.dtype)) return Verdict::no(cat("an operand is ", name(o.dtype)));
      if (o.layout != kPlain && !same_as_plain(o.layout, o.dims)) return Verdict::no("an operand is not plain");
      if (side == &p.in) space = ir::broadcast(space, o.dims);
    }
  if (p.in.size() + p.out.size() > kMaxOperands) return Verdict::no("too many operands");
  if (r.body.inputs.size() != p.in.size() || r.body.outputs.size() < p.out.size()) return Verdict::no("the body has other operands");
  r.body.outputs.resize(p.out.size());
  if (space.size() > kMaxRank) return Verdict::no("too many dims");
  if (reduced > space.size()) return Verdict::no("the body reduces more dims than there are");
  const std::int64_t max = p.bounds(ir::product(space)).upper;
  // A launch tells of what data decide.
  if (max >= std::int64_t{1} << 38 && max < ir::kUnbounded) return Verdict::no("too many elements");
  r.outer.assign(space.begin(), space.end() - static_cast<std::ptrdiff_t>(reduced));
  r.row.assign(space.end() - static_cast<std::ptrdiff_t>(reduced), space.end());
  if (has_ones_last(space, reduced)) return Verdict::no("rows have one element");
  for (const OperandDesc& o : p.in) {
    auto [first, second] = halves(o, reduced);
    r.narrow_in.push_back(has_ones_last(o.dims, reduced));
    r.in.push_back(o), r.in_outer.push_back(std::move(first)), r.in_row.push_back(std::move(second));
  }
  if (Verdict v = can_walk(r.body, r.narrow_in); !v) return v;
  const std::vector<bool> narrow = row_phases(r.body, r.narrow_in).narrow;
  for (std::size_t i = 0; i < p.out.size(); ++i) {
    const OperandDesc& o = p.out[i];
    const std::uint16_t value = r.body.outputs[i];
    if (value >= r.body.inputs.size() && r.body.code[value - r.body.inputs.size()].prim == ir::Prim::constant)
      return Verdict::no("a result is a constant");
    Dims requested = space;
    if (narrow[value]) std::fill(requested.end() - static_cast<std::ptrdiff_t>(reduced), requested.end(), Dim(1));
    if (o.dims != requested) return Verdict::no("a result has other dims than the space");
    auto [first, second] = halves(o, reduced);
    r.narrow_out.push_back(narrow[value]);
    r.out.push_back(o), r.out_outer.push_back(std::move(first)), r.out_row.push_back(std::move(second));
  }
  return can_generate(r);
}

Verdict supports(const Problem& p) {
  RowRegionProblem r;
  return as_rows(p, r);
}

struct Kernel {
  RowRegionKernel kernel;
  std::shared_ptr<const LoadedModule> module;
  std::vector<std::array<Function, 2>> functions;   // by vectors and one by one: all walks, then each
  std::vector<int> vector_bytes;                    // by operand
  std::size_t reduced = 0, outer_rank = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  RowRegionProblem r;
  as_rows(p, r);
  auto k = std::make_shared<Kernel>(Kernel{.kernel = generate_row_region(r), .module = {}, .functions = {}, .vector_bytes = {}});
  k->reduced = r.row.size(), k->outer_rank = r.outer.size();
  require(k->kernel.outer.arguments().size() + k->kernel.row.arguments().size() <= kMaxNumbers, ErrorKind::unsupported,
          "a kernel with too many sizes that are not known");
  k->module = device_of(*p.device).load(k->kernel.source, opening);
  const auto add = [&](const std::string& name) {
    k->functions.push_back({k->module->function((name + "_vectors").c_str()), k->module->function((name + "_singles").c_str())});
  };
  add("whole");
  for (int w = 0; k->kernel.shares && w < k->kernel.walks; ++w) add(cat("walk", w));
  for (std::size_t o = 0; o < r.in.size() + r.out.size(); ++o) {
    const DType type = (o < r.in.size() ? r.in[o] : r.out[o - r.in.size()]).dtype;
    const bool by_vectors = !k->kernel.row.axes().empty() && k->kernel.row.axes().back().strides[o] == Dim(1);
    k->vector_bytes.push_back(by_vectors ? std::min(16, k->kernel.width * bits(type) / 8) : 1);
  }
  return k;
}

Dim workspace(const Problem& p, const Config&) {
  RowRegionProblem r;
  if (!as_rows(p, r)) return Dim(0);
  const auto reductions =
      std::count_if(r.body.code.begin(), r.body.code.end(), [](const ir::Instr& i) { return ir::is_reduction(i.prim); });
  return Dim(static_cast<std::int64_t>(reductions) * kRowSharesOfAll * std::int64_t{sizeof(float)});
}

// How many blocks share a row, and the vectors of each: several where rows are long and too few for the device.
struct Shares {
  std::int64_t count = 1, chunk = 0;
};
Shares shares_of(const Kernel& k, std::int64_t rows, std::int64_t vectors) noexcept {
  constexpr std::int64_t kBlocks = 528, kMin = 2 * kRowRegionThreads;   // vectors of a block
  if (!k.kernel.shares || rows * 2 > kBlocks) return {};
  const std::int64_t count =
      std::min({ceil_div(kBlocks, rows), ceil_div(vectors, kMin), std::int64_t{kMaxRowShares}, kRowSharesOfAll / rows});
  if (count < 2) return {};
  const std::int64_t chunk = ceil_div(vectors, count);
  return {ceil_div(vectors, chunk), chunk};
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  Bound operands[kMaxOperands], outer[kMaxOperands];
  const Bound *all[kMaxOperands], *leading[kMaxOperands];
  const std::size_t inputs = args.in.size(), count = inputs + args.out.size();
  std::int64_t space[kMaxRank] = {};
  const int rank = static_cast<int>(k.outer_rank + k.reduced);
  std::fill(space, space + rank, 1);
  bool aligned = true;
  for (std::size_t o = 0; o < count; ++o) {
    operands[o] = outer[o] = o < inputs ? args.in[o] : args.out[o - inputs];
    outer[o].rank = std::max(0, outer[o].rank - static_cast<int>(k.reduced));
    all[o] = &operands[o], leading[o] = &outer[o];
    aligned = aligned && reinterpret_cast<std::uint64_t>(operands[o].data) % static_cast<std::uint64_t>(k.vector_bytes[o]) == 0;
    if (o < inputs)
      for (int d = 0; d < operands[o].rank; ++d)
        if (operands[o].dims[d] != 1) space[rank - operands[o].rank + d] = operands[o].dims[d];
  }
  std::int64_t rows = 1, length = 1;
  for (int d = 0; d < rank; ++d) (d < static_cast<int>(k.outer_rank) ? rows : length) *= space[d];
  if (rows == 0) return Status::ok;
  const std::int64_t vectors = length / (aligned ? k.kernel.width : 1);
  const Shares shares = shares_of(k, rows, vectors);
  // As RowRegionArgumentsOf: operands, rows, chunk, parts, numbers of both halves of the space.
  std::array<std::uint64_t, kMaxOperands + 4 + kMaxNumbers + 2> argument{};
  std::size_t at = 0;
  for (std::size_t o = 0; o < count; ++o) argument[at++] = reinterpret_cast<std::uint64_t>(operands[o].data);
  argument[at++] = static_cast<std::uint64_t>(rows), argument[at++] = static_cast<std::uint64_t>(shares.chunk);
  argument[at++] = reinterpret_cast<std::uint64_t>(args.workspace);
  std::array<std::int64_t, kMaxNumbers> numbers{};
  const auto put = [&](const IndexSpace& part, const std::int64_t* dims, const Bound* const* bound) {
    part.fill(dims, {bound, count}, numbers.data());
    for (std::size_t i = 0; i < std::max<std::size_t>(part.arguments().size(), 1); ++i)
      argument[at++] = static_cast<std::uint64_t>(numbers[i]);
  };
  put(k.kernel.outer, space, leading);
  put(k.kernel.row, space + k.outer_rank, all);
  const std::size_t how = aligned ? 0 : 1;
  if (shares.count == 1) {
    const std::int64_t cluster = aligned ? k.kernel.cluster : 1;
    const std::int64_t blocks = ceil_div(rows, std::int64_t{k.kernel.rows_per_block}) * cluster;
    return launch(queue_of(args), k.functions[0][how], Grid{blocks}, static_cast<unsigned>(k.kernel.threads * k.kernel.rows_per_block), 0,
                  argument.data(), Start::early);
  }
  for (std::size_t w = 1; w < k.functions.size(); ++w) {
    const Grid grid{shares.count, rows};
    if (const Status::Code code = launch(queue_of(args), k.functions[w][how], grid, kRowRegionThreads, 0, argument.data(), Start::early);
        code != Status::ok)
      return code;
  }
  return Status::ok;
}

// Every walk ends before results are written, by the threads that read these elements.
bool may_alias(const Problem& p, int in, int) {
  const OperandDesc& x = p.in[static_cast<std::size_t>(in)];
  return p.out.size() == 1 && x.dims == p.out[0].dims && x.dense && p.out[0].dense && bits(x.dtype) == bits(p.out[0].dtype);
}

}  // namespace

Tactic cuda_region_rows() {
  return {.name = "region_rows",
          .ops = {"Region"},
          .supports = supports,
          .configs = one_config,
          .workspace = workspace,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"(x f32[37,1003])\n y = Region(x) body={(f32) %1=reduce_max.f32(%0) %2=sub.f32(%0,%1) "
                    "%3=exp.f32(%2) %4=reduce_sum.f32(%3) %5=div.f32(%3,%4) over=1 -> %5}",
                    "(x f16[3,130,384])\n y = Region(x) body={(f16) %1=cast.f32(%0) %2=mul.f32(%1,%1) "
                    "%3=reduce_sum.f32(%2) %4=sqrt.f32(%3) %5=cast.f16(%4) %6=div.f16(%0,%5) over=1 -> %6}",
                    "(x f32[3,40,300], w f32[300])\n y = Region(x, w) body={(f32,f32) %2=reduce_sum.f32(%0) "
                    "%3=constant.f32(0.0033333333) %4=mul.f32(%2,%3) %5=sub.f32(%0,%4) %6=mul.f32(%5,%5) "
                    "%7=reduce_sum.f32(%6) %8=mul.f32(%7,%3) %9=constant.f32(1e-05) %10=add.f32(%8,%9) "
                    "%11=rsqrt.f32(%10) %12=mul.f32(%5,%11) %13=mul.f32(%12,%1) over=1 -> %13}",
                    "(x f32[3,8,16,20], w f32[8,1,1], s f32[3,1,1,1])\n y = Region(x, w, s) body={(f32,f32,f32) "
                    "%3=add.f32(%0,%2) %4=reduce_sum.f32(%3) %5=constant.f32(0.000390625) %6=mul.f32(%4,%5) "
                    "%7=sub.f32(%3,%6) %8=mul.f32(%7,%1) over=3 -> %8}",
                    "(x f16[70,64], k i64[70,64])\n y = Region(x, k) body={(f16,i64) %2=cast.f32(%0) "
                    "%3=cast.f32(%1) %4=mul.f32(%2,%3) %5=reduce_sum.f32(%4) %6=reduce_sum.f32(%3) "
                    "%7=constant.f32(1) %8=max.f32(%6,%7) %9=div.f32(%5,%8) over=1 -> %9}",
                    "(x bf16[5,49])\n y = Region(x) body={(bf16) %1=cast.f32(%0) %2=reduce_min.f32(%1) "
                    "%3=sub.f32(%1,%2) %4=cast.bf16(%3) over=1 -> %4}",
                    "(x f32[2,70000])\n y = Region(x) body={(f32) %1=reduce_max.f32(%0) %2=sub.f32(%0,%1) "
                    "%3=exp.f32(%2) %4=reduce_sum.f32(%3) %5=div.f32(%3,%4) over=1 -> %5}",
                    "(x f16[1,200008], b f16[1,200008])\n y = Region(x, b) body={(f16,f16) %2=add.f16(%0,%1) "
                    "%3=cast.f32(%2) %4=mul.f32(%3,%3) %5=reduce_sum.f32(%4) %6=sqrt.f32(%5) %7=div.f32(%3,%6) "
                    "%8=cast.f16(%7) over=2 -> %8}",
                    "(x f32[300,40001])\n y = Region(x) body={(f32) %1=abs.f32(%0) %2=reduce_max.f32(%1) "
                    "%3=div.f32(%0,%2) over=1 -> %3}",
                    "(x f16[3,5,64], s f16[3,5,1])\n y, m = Region(x, s) body={(f16,f16) %2=cast.f32(%0) "
                    "%3=reduce_sum.f32(%2) %4=cast.f32(%1) %5=mul.f32(%3,%4) %6=sub.f32(%2,%5) %7=cast.f16(%6) "
                    "over=1 -> %7 %5}",
                    "(x f16[3,70000], s f16[70000])\n y = Region(x, s) body={(f16,f16) %2=cast.f32(%0) "
                    "%3=cast.f32(%1) %4=mul.f32(%2,%3) %5=reduce_max.f32(%4) %6=sub.f32(%4,%5) %7=exp.f32(%6) "
                    "%8=reduce_sum.f32(%7) %9=reduce_min.f32(%4) %10=add.f32(%8,%9) %11=div.f32(%7,%10) "
                    "%12=cast.f16(%11) over=1 -> %12}",  // by a cluster of blocks
                    "(x f32[5,2,3,40000], w f32[2,3,1])\n y = Region(x, w) body={(f32,f32) %2=reduce_sum.f32(%0) "
                    "%3=constant.f32(8.333333e-06) %4=mul.f32(%2,%3) %5=sub.f32(%0,%4) %6=mul.f32(%5,%5) "
                    "%7=reduce_sum.f32(%6) %8=mul.f32(%7,%3) %9=rsqrt.f32(%8) %10=mul.f32(%5,%9) "
                    "%11=mul.f32(%10,%1) over=2 -> %11}",
                    "(x f32[37,100], s f32[37,1])\n y = Region(x, s) body={(f32,f32) %2=constant.f32(0) "
                    "%3=div.f32(%1,%2) %4=min.f32(%0,%3) %5=reduce_max.f32(%4) %6=sub.f32(%4,%5) %7=exp.f32(%6) "
                    "%8=reduce_sum.f32(%7) %9=div.f32(%7,%8) over=1 -> %9}",  // some all -inf
                    "(x f16[9,5000])\n y, s = Region(x) body={(f16) %1=constant.f16(8000) %2=mul.f16(%0,%1) "
                    "%3=abs.f16(%2) %4=reduce_sum.f16(%3) %5=reduce_max.f16(%3) %6=sub.f16(%2,%5) over=1 -> %6 %4}",  // sums overflow
                    "(x f32[1,3,1], z f32[2,3,9000])\n y = Region(x, z) body={(f32,f32) %2=mul.f32(%0,%1) "
                    "%3=abs.f32(%2) %4=reduce_max.f32(%3) %5=log.f32(%2) %6=reduce_min.f32(%5) %7=sub.f32(%5,%6) "
                    "%8=add.f32(%7,%4) over=1 -> %8}",  // NaN
          }};
}

}  // namespace tenfold::backends
