// The shapes of AMX tiles, as _tile_loadconfig reads them.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};   // eight tiles; what no tile has stays zero
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
inline constexpr TileShapes kWholeTiles;

}  // namespace tenfold::backends::cpu
