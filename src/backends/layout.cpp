// Strides, storage and names of layouts.
#include "backends/layout.h"

#include <charconv>

#include "base/check.h"

namespace tenfold::backends {
namespace {

ir::Dims row_major(const ir::Dims& dims) {
  ir::Dims result(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) result[i - 1] = result[i] * dims[i];
  return result;
}
bool has_channels(Layout layout, const ir::Dims& dims) { return layout.order != Layout::plain && dims.size() >= 3; }
// Elements that lie together for one position of an image.
ir::Dim innermost(Layout layout, const ir::Dims& dims) { return layout.order == Layout::channels_last ? dims[1] : ir::Dim(layout.block); }

}  // namespace

std::string text(Layout layout) {
  switch (layout.order) {
    case Layout::plain: return "plain";
    case Layout::channels_last: return "cl";
    case Layout::channels_blocked: return cat("c", static_cast<int>(layout.block));
  }
  return "?";
}

Layout parse_layout(std::string_view text) {
  if (text == "plain") return kPlain;
  if (text == "cl") return kChannelsLast;
  if (text == "c8") return {Layout::channels_blocked, 8};
  if (text == "c16") return {Layout::channels_blocked, 16};
  fail(ErrorKind::invalid_argument, cat("unknown layout '", text, "', expected plain, cl, c8 or c16"));
}

ir::Dims strides(Layout layout, const ir::Dims& dims) {
  if (!has_channels(layout, dims)) return row_major(dims);
  ir::Dims result(dims.size());
  ir::Dim next = innermost(layout, dims);
  for (std::size_t i = dims.size(); i-- > 2;) {
    result[i] = next;
    next = next * dims[i];
  }
  if (layout.order == Layout::channels_last) {
    result[1] = 1;
    result[0] = next;
  } else {
    result[1] = next;
    result[0] = next * ceil_div(dims[1], layout.block);
  }
  return result;
}

ir::Dim storage_elements(Layout layout, const ir::Dims& dims) {
  ir::Dim all = 1;
  const bool blocked = layout.order == Layout::channels_blocked && dims.size() >= 3;
  for (std::size_t i = 0; i < dims.size(); ++i) all = all * (blocked && i == 1 ? ceil_div(dims[1], layout.block) * layout.block : dims[i]);
  return all;
}

bool same_as_plain(Layout layout, const ir::Dims& dims) {
  if (!has_channels(layout, dims)) return true;
  bool points = true;  // every image is a single position
  for (std::size_t i = 2; i < dims.size(); ++i) points = points && dims[i] == ir::Dim(1);
  if (layout.order == Layout::channels_blocked) return points && dims[1].divisible_by(layout.block);
  return points || dims[1] == ir::Dim(1);
}

}  // namespace tenfold::backends
