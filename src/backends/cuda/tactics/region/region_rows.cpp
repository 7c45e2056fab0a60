// region_rows: a Region with reductions over the last dims of its space as one kernel; of long rows, where there are few, one for each
// walk.
#include <algorithm>
#include <array>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/region/row_region.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/pointwise_body.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using ir::Dim;
using ir::Dims;

constexpr std::size_t kMostOperands = 24, kMostNumbers = 64, kMostRank = 16;

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
  if (!p.op->scalar || (p.body && p.op->name != "Region")) return Verdict::no("no Region");
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
  if (p.in.size() + p.out.size() > kMostOperands) return Verdict::no("too many operands");
  if (r.body.inputs.size() != p.in.size() || r.body.outputs.size() < p.out.size()) return Verdict::no("the body has other operands");
  r.body.outputs.resize(p.out.size());
  if (space.size() > kMostRank) return Verdict::no("too many dims");
  if (reduced > space.size()) return Verdict::no("the body reduces more dims than there are");
  const std::int64_t most = p.bounds(ir::product(space)).upper;
  // A launch tells of what data decide.
  if (most >= std::int64_t{1} << 38 && most < ir::kUnbounded) return Verdict::no("too many elements");
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
    Dims wanted = space;
    if (narrow[value]) std::fill(wanted.end() - static_cast<std::ptrdiff_t>(reduced), wanted.end(), Dim(1));
    if (o.dims != wanted) return Verdict::no("a result has other dims than the space");
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

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  RowRegionProblem r;
  as_rows(p, r);
  auto k = std::make_shared<Kernel>(Kernel{.kernel = generate_row_region(r), .module = {}, .functions = {}, .vector_bytes = {}});
  k->reduced = r.row.size(), k->outer_rank = r.outer.size();
  require(k->kernel.outer.arguments().size() + k->kernel.row.arguments().size() <= kMostNumbers, ErrorKind::unsupported,
          "a kernel with too many sizes that are not known");
  k->module = device_of(*p.device).load(k->kernel.source);
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
  constexpr std::int64_t kBlocks = 528, kLeast = 2 * kRowRegionThreads;   // vectors of a block
  if (!k.kernel.shares || rows * 2 > kBlocks) return {};
  const std::int64_t count =
      std::min({ceil_div(kBlocks, rows), ceil_div(vectors, kLeast), std::int64_t{kMostRowShares}, kRowSharesOfAll / rows});
  if (count < 2) return {};
  const std::int64_t chunk = ceil_div(vectors, count);
  return {ceil_div(vectors, chunk), chunk};
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  Bound operands[kMostOperands], outer[kMostOperands];
  const Bound *all[kMostOperands], *leading[kMostOperands];
  const std::size_t inputs = args.in.size(), count = inputs + args.out.size();
  std::int64_t space[kMostRank] = {};
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
  // As the kernel's Arguments: operands, rows, chunk, parts, numbers of both halves of the space.
  std::array<std::uint64_t, kMostOperands + 4 + kMostNumbers + 2> argument{};
  std::size_t at = 0;
  for (std::size_t o = 0; o < count; ++o) argument[at++] = reinterpret_cast<std::uint64_t>(operands[o].data);
  argument[at++] = static_cast<std::uint64_t>(rows), argument[at++] = static_cast<std::uint64_t>(shares.chunk);
  argument[at++] = reinterpret_cast<std::uint64_t>(args.workspace);
  std::array<std::int64_t, kMostNumbers> numbers{};
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
          .op = "Region",
          .supports = supports,
          .configs = one_config,
          .workspace = workspace,
          .open = open,
          .run = run,
          .may_alias = may_alias};
}

}  // namespace tenfold::backends
