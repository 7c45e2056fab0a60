// Layout: how the elements of a logical tensor lie in memory. A property of an edge, chosen by the tuner.
#pragma once

#include <cstdint>
#include <string>

#include "ir/dim.h"

namespace tenfold::backends {

// The closed set: row-major; axis 1 innermost (NHWC and its 1-D and 3-D kin); axis 1 split into blocks that lie innermost.
// Packings of weights are not layouts: they are private to a tactic.
struct Layout {
  enum Order : std::uint8_t { plain, channels_last, channels_blocked } order = plain;
  std::uint8_t block = 0;                            // channels_blocked only: 8 or 16
  bool operator==(const Layout&) const = default;
  auto operator<=>(const Layout&) const = default;
};
inline constexpr Layout kPlain{}, kChannelsLast{Layout::channels_last, 0};

std::string text(Layout layout);                     // "plain", "cl", "c8"
Layout parse_layout(std::string_view text);

// Element strides of a dense tensor in this layout. channels_blocked: stride of axis 1 is that of a whole block of channels.
ir::Dims strides(Layout layout, const ir::Dims& dims);
ir::Dim storage_elements(Layout layout, const ir::Dims& dims);   // with padding of blocked channels
// True if the layout says nothing new for this shape (rank below 3, or all spatial or channel extents 1).
bool same_as_plain(Layout layout, const ir::Dims& dims);

}  // namespace tenfold::backends
