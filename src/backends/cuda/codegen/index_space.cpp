// Ordering and joining axes, and printing the arithmetic of indices.
#include "backends/cuda/codegen/index_space.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace tenfold::backends::cuda {

using ir::Dim;
using ir::Dims;

IndexSpace::IndexSpace(const Dims& dims, const std::vector<const OperandDesc*>& operands) : rank_(static_cast<int>(dims.size())) {
  for (std::size_t d = 0; d < dims.size(); ++d) axes_.push_back({{static_cast<int>(d)}, dims[d], {}});
  for (const OperandDesc* operand : operands) {
    layouts_.push_back(operand->layout);
    const Dims strides = operand->dense ? backends::strides(operand->layout, operand->dims) : operand->strides;
    const std::size_t missing = dims.size() - std::min(dims.size(), operand->dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool has = d >= missing;
      const Dim own = has ? operand->dims[d - missing] : Dim(1);
      const bool walks = own == dims[d] && own != Dim(1);
      if (!walks && own != Dim(1))
        verdict_ = Verdict::no(cat("an extent of ", own.text(), " may or may not be broadcast to ", dims[d].text()));
      axes_[d].strides.push_back(walks ? strides[d - missing] : Dim(0));
    }
  }
  std::erase_if(axes_, [](const IndexAxis& a) { return a.extent == Dim(1); });
}

void IndexSpace::order_by(int operand) {
  const auto o = static_cast<std::size_t>(operand);
  const bool constant = std::all_of(axes_.begin(), axes_.end(), [&](const IndexAxis& a) { return a.strides[o].is_constant(); });
  const auto key = [&](const IndexAxis& a) {
    if (constant) return a.strides[o] == Dim(0) ? std::numeric_limits<std::int64_t>::max() : a.strides[o].constant();
    return std::int64_t{!(layouts_[o] == kChannelsLast && a.source.front() == 1 && rank_ > 2)};  // channels innermost
  };
  std::stable_sort(axes_.begin(), axes_.end(), [&](const IndexAxis& a, const IndexAxis& b) { return key(a) > key(b); });
}

void IndexSpace::merge() {
  for (std::size_t a = 0; a + 1 < axes_.size();) {
    IndexAxis &outer = axes_[a], &inner = axes_[a + 1];
    bool together = true;
    for (std::size_t o = 0; o < outer.strides.size(); ++o) together = together && outer.strides[o] == inner.strides[o] * inner.extent;
    if (!together) {
      ++a;
      continue;
    }
    inner.source.insert(inner.source.begin(), outer.source.begin(), outer.source.end());
    inner.extent = outer.extent * inner.extent;
    axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(a));
    a = a > 0 ? a - 1 : 0;
  }
}

int IndexSpace::vector_width(int max, const ir::SymbolBounds*) const {
  if (axes_.empty()) return 1;
  int width = max;
  const auto last = axes_.size() - 1;
  while (width > 1 && !axes_[last].extent.divisible_by(width)) width /= 2;
  for (std::size_t o = 0; o < layouts_.size(); ++o) {
    if (axes_[last].strides[o] != Dim(1)) continue;  // one by one, or the same for all
    for (std::size_t a = 0; a < last; ++a)
      while (width > 1 && !axes_[a].strides[o].divisible_by(width)) width /= 2;
  }
  return width;
}

bool IndexSpace::fits_32_bits(const ir::SymbolBounds* box) const {
  static const ir::SymbolBounds nothing_known;
  const ir::SymbolBounds& known = box ? *box : nothing_known;
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  Dim count = 1;
  for (const IndexAxis& a : axes_) count = count * a.extent;
  if (count.bounds(known).upper >= kMax) return false;
  for (std::size_t o = 0; o < layouts_.size(); ++o) {
    Dim reach = 1;
    for (const IndexAxis& a : axes_) reach = reach + a.extent * a.strides[o];
    const ir::Interval range = reach.bounds(known);
    if (range.upper >= kMax || range.lower < 0) return false;
  }
  return true;
}

std::string IndexSpace::number(Dim d, Argument argument) {
  if (d.is_constant()) return std::to_string(d.constant());
  std::size_t slot = 0;
  while (slot < arguments_.size() && (arguments_[slot].axis != argument.axis || arguments_[slot].operand != argument.operand)) ++slot;
  if (slot == arguments_.size()) arguments_.push_back(argument);
  return cat("n[", slot, "]");
}
std::string IndexSpace::extent_text(int axis) { return number(axes_[static_cast<std::size_t>(axis)].extent, {axis, -1}); }
std::string IndexSpace::stride_text(int axis, int operand) {
  return number(axes_[static_cast<std::size_t>(axis)].strides[static_cast<std::size_t>(operand)], {axis, operand});
}

std::string IndexSpace::decode(const std::string& type, int width) {
  std::string out;
  for (int a = static_cast<int>(axes_.size()); a-- > 0;) {
    const bool last = a + 1 == static_cast<int>(axes_.size());
    const std::string extent =
        last && width > 1 ? cat("(", type, ")(", extent_text(a), " / ", width, ")") : cat("(", type, ")", extent_text(a));
    const std::string scale = last && width > 1 ? cat(" * ", width) : "";
    if (a == 0)
      out += cat("  const ", type, " c0 = i", scale, ";\n");
    else
      out += cat("  const ", type, " c", a, " = i % ", extent, scale, "; i /= ", extent, ";\n");
  }
  return out;
}

std::string IndexSpace::offset(int operand) {
  std::string out;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const Dim stride = axes_[a].strides[static_cast<std::size_t>(operand)];
    if (stride == Dim(0)) continue;
    if (!out.empty()) out += " + ";
    out += stride == Dim(1) ? cat("c", a) : cat("c", a, " * ", stride_text(static_cast<int>(a), operand));
  }
  return out.empty() ? "0" : out;
}

std::string IndexSpace::count_text() {
  std::string out;
  for (std::size_t a = 0; a < axes_.size(); ++a) out += cat(out.empty() ? "(i64)" : " * ", extent_text(static_cast<int>(a)));
  return out.empty() ? "(i64)1" : out;
}

void IndexSpace::fill(const std::int64_t* dims, std::span<const Bound* const> operands, std::int64_t* values) const noexcept {
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const IndexAxis& axis = axes_[static_cast<std::size_t>(arguments_[k].axis)];
    if (arguments_[k].operand < 0) {
      values[k] = 1;
      for (int d : axis.source) values[k] *= dims[d];
      continue;
    }
    const Bound& b = *operands[static_cast<std::size_t>(arguments_[k].operand)];
    values[k] = b.strides[axis.source.back() - (rank_ - b.rank)];
  }
}

}  // namespace tenfold::backends::cuda
