// Movements as elementwise copies between strided views.
#pragma once

#include "backends/cuda/tactics/elements_common.h"

namespace tenfold::backends::cuda {

inline constexpr int kMaxDims = 16;

// A copy of `from` to `to`; both have the dims of `to`, or `from` broadcasts to them. Any element type of whole bytes.
Verdict can_copy(const OperandDesc& from, const OperandDesc& to, const ir::SymbolBounds* box);
std::unique_ptr<OpenElements> open_copy(const OperandDesc& from, const OperandDesc& to, const Problem& p, Opening& opening);
Status::Code run_copy(const OpenElements& copy, const Queue& queue, const Bound& from, const Bound& to) noexcept;

// The operand with its own strides written out, so that dims can be changed.
OperandDesc strided(OperandDesc operand);
// Plain or channels-last throughout: one layout for every operand.
std::vector<Formats> same_layouts(const Problem& p);

// A bound operand with dims and strides of its own.
struct BoundView {
  explicit BoundView(const Bound& b) noexcept : bound(b) {
    std::copy_n(b.dims, b.rank, dims);
    std::copy_n(b.strides, b.rank, strides);
    bound.dims = dims, bound.strides = strides;
  }
  BoundView(const BoundView& other) noexcept : BoundView(other.bound) {}
  BoundView& operator=(const BoundView&) = delete;
  Bound bound;
  std::int64_t dims[kMaxDims], strides[kMaxDims];
};

}  // namespace tenfold::backends::cuda
