// Which bytes an operand may touch, relative to the start of its space: over a whole box of shapes, or for one set of values.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ir/dim_code.h"
#include "plan/plan.h"

namespace tenfold::plan {

// Bytes [first, end). Empty if an extent is 0.
struct ByteRange {
  std::int64_t first = 0, end = 0;
  bool empty() const { return first >= end; }
  bool overlaps(const ByteRange& other) const { return !empty() && !other.empty() && first < other.end && other.first < end; }
};

// For the dims' values. Nothing if a dim is negative or the arithmetic overflows: such shapes must not run.
std::optional<ByteRange> byte_range(const Operand& operand, std::span<const std::int64_t> dims) noexcept;
// Encloses byte_range for every point of the box.
ByteRange byte_range(const Operand& operand, std::span<const ir::Dim> dims, const ir::SymbolBounds& box);
// Bytes of a program's input or output as the caller has to give them: dense.
std::optional<std::int64_t> formal_bytes(const Operand& formal, std::span<const std::int64_t> dims) noexcept;

// True if, for these values of the dims table, every operand of the program and of those it owns lies inside its memory. The
// runtime asks whenever shapes change: bounds over a box cannot see that two expressions depend on each other. `grown` holds the
// bytes of each growing buffer, -1 for one that has no size yet: no step before its size is defined touches it (verify()). `known` by
// symbol (empty: none): a branch whose results have their sizes has run, and the one not taken may have needed more.
bool extents_fit(const Plan& plan, const Program& program, std::span<const std::int64_t> dims, std::span<const std::int64_t> grown,
                 std::span<const ir::DimCode::Known> known = {}) noexcept;

// A buffer of `bytes` has no size that could be set aside when the plan is built: its symbols are defined by steps and its bound
// is out of proportion.
bool must_grow(ir::Dim bytes, const ir::SymbolBounds& box, const std::function<bool(const std::string&)>& is_input_symbol);

}  // namespace tenfold::plan
