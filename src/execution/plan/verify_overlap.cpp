// Which operands of one step may share memory: none that is written, but a result in the exact place of an operand it may replace,
// and slices of one parent that interleave without touching.
#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "plan/extent.h"
#include "plan/step_problem.h"
#include "plan/verify_step.h"

namespace tenfold::plan {
namespace {

bool same_place(const Operand& a, const Operand& b) {
  return a.at.space == b.at.space && a.at.index == b.at.index && a.at.offset == b.at.offset;
}

bool same_dims(const VerifyScope& scope, const std::vector<DimIndex>& a, const std::vector<DimIndex>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](DimIndex x, DimIndex y) {
    return scope.dims[static_cast<std::size_t>(x)] == scope.dims[static_cast<std::size_t>(y)];
  });
}

// Bytes an operand covers within a period of `row` bytes that begins at `base`, if all its strides are either multiples of the period
// or small.
std::optional<ByteRange> within_row(const std::vector<std::int64_t>& dims, const Operand& o, std::int64_t row, std::int64_t base) {
  const std::int64_t width = bits(o.dtype) / 8;
  if (width == 0) return std::nullopt;
  __int128 reach = width;
  for (std::size_t i = 0; i < o.dims.size(); ++i) {
    const std::int64_t extent = dims[static_cast<std::size_t>(o.dims[i])], stride = dims[static_cast<std::size_t>(o.strides[i])];
    if (stride < 0 || stride > ir::kUnbounded || extent > ir::kUnbounded) return std::nullopt;
    if (stride * width % row == 0) continue;
    if (extent > row || stride > row) return std::nullopt;
    reach += static_cast<__int128>(std::max<std::int64_t>(extent - 1, 0)) * stride * width;
  }
  const std::int64_t start = ((o.at.offset - base) % row + row) % row;
  return start + reach <= row ? std::optional(ByteRange{start, static_cast<std::int64_t>(start + reach)}) : std::nullopt;
}

// Slices of one parent: rows of the same length, in which each has columns of its own. For one set of shapes.
bool interleave(const std::vector<std::int64_t>& dims, const Operand& a, const Operand& b) {
  for (const Operand* o : {&a, &b})
    for (DimIndex s : o->strides) {
      const std::int64_t stride = dims[static_cast<std::size_t>(s)];
      if (stride <= 1 || stride > ir::kUnbounded) continue;
      const std::int64_t row = stride * bits(o->dtype) / 8;
      if (row <= 0) continue;
      const auto x = within_row(dims, a, row, a.at.offset), y = within_row(dims, b, row, a.at.offset);   // a parent begins anywhere
      if (x && y && !x->overlaps(*y)) return true;
    }
  return false;
}

// An operand and the bytes it may touch: a step may have thousands, so each is asked once.
struct Placed {
  const Operand* operand;
  ByteRange range;
  // Operands of different memory never meet. The arena has no index.
  std::pair<Space, std::int32_t> memory() const { return {operand->at.space, operand->at.space == Space::arena ? 0 : operand->at.index}; }
};
std::vector<Placed> placed(const VerifyScope& scope, const std::vector<Operand>& operands) {
  std::vector<Placed> list;
  for (const Operand& o : operands)
    list.push_back({&o, !is_memory(o.at.space) || o.packed ? ByteRange{} : byte_range(o, scope.dims, scope.box)});
  return list;
}

bool overlap(const VerifyScope& scope, const Placed& one, const Placed& other) {
  if (one.memory() != other.memory() || !one.range.overlaps(other.range)) return false;
  const Operand &a = *one.operand, &b = *other.operand;
  return scope.corners.empty() ||
         std::any_of(scope.corners.begin(), scope.corners.end(), [&](const auto& dims) {
           const auto x = byte_range(a, dims), y = byte_range(b, dims);
           return x && y && x->overlaps(*y) && !interleave(dims, a, b);
         });
}

// Columns of one parent's rows, each with bytes of its own: proved in one walk for all of a crowd. False says nothing.
bool apart_as_columns(const VerifyScope& scope, std::span<const Placed* const> crowd) {
  const Operand& first = *crowd.front()->operand;
  const auto apart = [&](const std::vector<std::int64_t>& dims, std::int64_t row) {
    std::vector<std::pair<std::int64_t, std::int64_t>> columns;
    for (const Placed* p : crowd) {
      const auto range = within_row(dims, *p->operand, row, first.at.offset);
      if (!range) return false;
      columns.emplace_back(range->first, range->end);
    }
    std::sort(columns.begin(), columns.end());
    return std::adjacent_find(columns.begin(), columns.end(), [](const auto& x, const auto& y) { return x.second > y.first; }) ==
           columns.end();
  };
  return !scope.corners.empty() && std::all_of(scope.corners.begin(), scope.corners.end(), [&](const auto& dims) {
    return std::any_of(first.strides.begin(), first.strides.end(), [&](DimIndex s) {
      const std::int64_t stride = dims[static_cast<std::size_t>(s)];
      return stride > 1 && stride <= ir::kUnbounded && apart(dims, stride * bits(first.dtype) / 8);
    });
  });
}

// In order of their first bytes, so that only those are compared that may meet.
void verify_results_apart(const VerifyScope& scope, const std::vector<Placed>& out) {
  std::vector<const Placed*> order;
  for (const Placed& p : out)
    if (!p.range.empty()) order.push_back(&p);
  std::sort(order.begin(), order.end(), [](const Placed* a, const Placed* b) {
    return std::tuple(a->memory(), a->range.first, a) < std::tuple(b->memory(), b->range.first, b);
  });
  const auto index = [&](const Placed* p) { return p - out.data(); };
  for (std::size_t first = 0, end; first < order.size(); first = end) {
    std::int64_t reach = order[first]->range.end;
    for (end = first + 1; end < order.size(); ++end) {
      if (order[end]->memory() != order[first]->memory() || order[end]->range.first >= reach) break;
      reach = std::max(reach, order[end]->range.end);
    }
    if (end - first > 1 && apart_as_columns(scope, std::span(order).subspan(first, end - first))) continue;
    for (std::size_t i = first; i < end; ++i)
      for (std::size_t j = i + 1; j < end && order[j]->range.first < order[i]->range.end; ++j)
        must(!overlap(scope, *order[i], *order[j]), "results ", std::min(index(order[i]), index(order[j])), " and ",
             std::max(index(order[i]), index(order[j])), " overlap");
  }
}

}  // namespace

void verify_overlaps(const VerifyScope& scope, const Step& step) {
  const backends::Tactic* tactic = step.kind == StepKind::kernel ? scope.tactics.find(step.tactic) : nullptr;
  const ByteRange workspace{step.workspace_offset, step.workspace_offset + step.workspace_bytes};
  const auto in_workspace = [&](const Placed& o) {
    if (o.operand->at.space == Space::grown) return o.operand->at.index == step.workspace_dynamic;
    return o.operand->at.space == Space::arena && o.range.overlaps(workspace);
  };
  const std::vector<Placed> ins = placed(scope, step.in), outs = placed(scope, step.out);
  verify_results_apart(scope, outs);
  for (std::size_t o = 0; o < step.out.size(); ++o) {
    const Operand& out = step.out[o];
    must(!in_workspace(outs[o]), "result ", o, " overlaps the workspace");
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const Operand& in = step.in[i];
      if (!overlap(scope, outs[o], ins[i])) continue;
      const bool congruent = same_place(in, out) && bits(in.dtype) == bits(out.dtype) && same_dims(scope, in.dims, out.dims) &&
                             same_dims(scope, in.strides, out.strides);
      must(congruent && tactic && tactic->may_alias, "result ", o, " overlaps operand ", i);
      const backends::Problem problem = step_problem(step, scope.dims, scope.box, scope.tactics.device(), scope.registry);
      must(tactic->may_alias(problem, static_cast<int>(i), static_cast<int>(o)), "result ", o, " overlaps operand ", i,
           ", which the tactic forbids");
    }
  }
  for (std::size_t i = 0; i < step.in.size(); ++i) must(!in_workspace(ins[i]), "operand ", i, " overlaps the workspace");
}

}  // namespace tenfold::plan
