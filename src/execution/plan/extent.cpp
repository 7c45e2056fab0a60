// Extents of strided operands.
#include "plan/extent.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::plan {
namespace {

constexpr std::int64_t kLargestFixedBuffer = std::int64_t{1} << 32;   // set aside for a size that only a step decides
constexpr std::int64_t kLimit = std::int64_t{1} << 61;   // beyond any memory; sums of two still fit

std::int64_t clamp(__int128 value) { return static_cast<std::int64_t>(std::clamp<__int128>(value, -kLimit, kLimit)); }

// From elements [low, high] to bytes, moved to the operand's offset.
ByteRange to_bytes(const Operand& o, __int128 low, __int128 high) {
  const int width = bits(o.dtype);
  return {clamp(o.at.offset + (low * width - (width < 8 ? 7 : 0)) / 8), clamp(o.at.offset + ((high + 1) * width + 7) / 8)};
}

bool operand_fits(const Plan& plan, const Program& program, const Operand& o, std::span<const std::int64_t> dims,
                  std::span<const std::int64_t> grown) noexcept {
  if (!is_memory(o.at.space) || o.packed) return true;   // a packed operand has no strides; verify() compares its size
  const std::optional<ByteRange> range = byte_range(o, dims);
  if (!range) return false;
  if (range->empty()) return true;
  std::int64_t capacity = 0;
  const auto index = static_cast<std::size_t>(o.at.index);
  switch (o.at.space) {
    case Space::none:
    case Space::object:
    case Space::literal: break;
    case Space::weights: capacity = plan.constants[index].bytes; break;
    case Space::arena: capacity = program.arena_bytes; break;
    case Space::binding: {
      const Operand& formal = index < program.inputs.size() ? program.inputs[index] : program.outputs[index - program.inputs.size()];
      capacity = formal_bytes(formal, dims).value_or(-1);
      break;
    }
    case Space::grown:
      if (grown[index] < 0) return true;
      capacity = grown[index];
      break;
    case Space::count_: break;
  }
  return range->first >= 0 && range->end <= capacity;
}

// Whether the sizes that a branch defines are bounds, for which its results have their memory: else they are values, or get it later.
bool is_bounded(const Step& step, std::span<const ir::DimCode::Known> known) noexcept {
  using Known = ir::DimCode::Known;
  if (known.empty() || step.defines.empty()) return true;
  const auto all = [&](Known what) {
    return std::all_of(step.defines.begin(), step.defines.end(),
                       [&](std::int32_t s) { return known[static_cast<std::size_t>(s)] == what; });
  };
  return !all(Known::value) && !all(Known::nothing);
}

}  // namespace

std::optional<ByteRange> byte_range(const Operand& o, std::span<const std::int64_t> dims) noexcept {
  __int128 low = 0, high = 0;
  bool empty = false;
  for (std::size_t i = 0; i < o.dims.size(); ++i) {
    const std::int64_t extent = dims[static_cast<std::size_t>(o.dims[i])];
    const std::int64_t stride = dims[static_cast<std::size_t>(o.strides[i])];
    if (extent < 0 || extent > kLimit || stride > kLimit || stride < -kLimit) return std::nullopt;
    if (extent == 0) empty = true;
    const __int128 reach = static_cast<__int128>(extent - 1) * stride;
    (reach < 0 ? low : high) += reach;
    if (low < -kLimit || high > kLimit) return std::nullopt;
  }
  return empty ? ByteRange{} : to_bytes(o, low, high);
}

// The symbolic sum is exact where strides are products of the dims (the terms cancel); intervals of each term are a second
// enclosure. The tighter one counts.
ByteRange byte_range(const Operand& o, std::span<const ir::Dim> dims, const ir::SymbolBounds& box) {
  ir::Dim sum = 0;
  __int128 low = 0, high = 0;
  for (std::size_t i = 0; i < o.dims.size(); ++i) {
    const ir::Dim extent = dims[static_cast<std::size_t>(o.dims[i])];
    const ir::Dim stride = dims[static_cast<std::size_t>(o.strides[i])];
    if (extent.bounds(box).upper <= 0) return {};
    const std::int64_t max = std::max<std::int64_t>(extent.bounds(box).upper - 1, 0);
    const bool backwards = stride.is_constant() && stride.constant() < 0;   // elsewhere a negative lower bound is imprecision
    (backwards ? low : high) = clamp((backwards ? low : high) + static_cast<__int128>(max) * stride.bounds(box).upper);
    if (!backwards) sum = sum + (extent - 1) * stride;
  }
  return to_bytes(o, low, std::min<__int128>(high, sum.bounds(box).upper));
}

std::optional<std::int64_t> formal_bytes(const Operand& formal, std::span<const std::int64_t> dims) noexcept {
  __int128 elements = 1;
  for (DimIndex d : formal.dims) {
    const std::int64_t extent = dims[static_cast<std::size_t>(d)];
    if (extent < 0) return std::nullopt;
    elements *= extent;
    if (elements > kLimit / 64) return std::nullopt;
  }
  return static_cast<std::int64_t>((elements * bits(formal.dtype) + 7) / 8);
}

bool must_grow(ir::Dim bytes, const ir::SymbolBounds& box, const std::function<bool(const std::string&)>& is_input_symbol) {
  if (bytes.is_constant() || bytes.bounds(box).upper < kLargestFixedBuffer) return false;
  const std::vector<std::string> symbols = bytes.symbols();
  return !std::all_of(symbols.begin(), symbols.end(), is_input_symbol);
}

bool extents_fit(const Plan& plan, const Program& program, std::span<const std::int64_t> dims, std::span<const std::int64_t> grown,
                 std::span<const ir::DimCode::Known> known) noexcept {
  for (const Step& step : program.steps) {
    for (const std::vector<Operand>* side : {&step.in, &step.out})
      for (const Operand& o : *side)
        if (!operand_fits(plan, program, o, dims, grown)) return false;
    for (const Program& nested : step.programs) {
      // A branch writes as much as its own result needs. (A loop's results and slices have the extents of its body's.)
      for (std::size_t i = 0; step.kind == StepKind::branch && is_bounded(step, known) && i < nested.outputs.size(); ++i) {
        const auto needed = formal_bytes(nested.outputs[i], dims), given = formal_bytes(step.out[i], dims);
        if (!needed || !given || *needed > *given) return false;
      }
      if (!extents_fit(plan, nested, dims, grown, known)) return false;
    }
  }
  return true;
}

}  // namespace tenfold::plan
