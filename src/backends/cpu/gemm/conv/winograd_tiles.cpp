// Winograd's tiles and the transform of filters: the one of a line along each dim in turn, in double.
#include "backends/cpu/gemm/conv/winograd_tiles.h"

#include <algorithm>

namespace tenfold::backends::cpu {
namespace {

// The filter's line as a polynomial, at 0, 1, -1 and infinity, or at 2 and -2 too; scaled as the other transforms expect.
constexpr double kFour[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kSix[6][3] = {{1. / 4, 0, 0},           {-1. / 6, -1. / 6, -1. / 6},  {-1. / 6, 1. / 6, -1. / 6},
                               {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}};

}  // namespace

WinogradTiles::WinogradTiles(WinogradForm form) {
  const std::int64_t side = form == kWinograd4x4 ? 4 : 2;
  tile = {form == kWinograd2x2x2 ? 2 : 1, side, side};
  for (std::size_t d = 0; d < 3; ++d) patch[d] = tile[d] > 1 ? tile[d] + 2 : 1;
}

Three WinogradTiles::grid(const Three& out) const {
  Three g;
  for (std::size_t d = 0; d < 3; ++d) g[d] = (out[d] + tile[d] - 1) / tile[d];
  return g;
}

ConvShape WinogradTiles::patches(const ConvShape& shape) const {
  ConvShape p = shape;
  p.kernel = patch, p.stride = tile;
  return p;
}

void WinogradTiles::transform(const float* filter, double* values) const {
  Three extent{tile[0] > 1 ? 3 : 1, 3, 3};
  std::copy_n(filter, extent[0] * extent[1] * extent[2], values);
  double before[kWinogradMaxPositions];
  for (std::size_t d = 0; d < 3; ++d) {
    if (patch[d] == 1) continue;
    const auto* matrix = patch[d] == 6 ? kSix : kFour;
    std::int64_t inner = 1, outer = 1;
    for (std::size_t i = 0; i < 3; ++i) (i < d ? outer : inner) *= i == d ? 1 : extent[i];
    std::copy_n(values, outer * 3 * inner, before);
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < patch[d]; ++k)
        for (std::int64_t i = 0; i < inner; ++i) {
          const double* line = before + o * 3 * inner + i;
          values[(o * patch[d] + k) * inner + i] = matrix[k][0] * line[0] + matrix[k][1] * line[inner] + matrix[k][2] * line[2 * inner];
        }
    extent[d] = patch[d];
  }
}

}  // namespace tenfold::backends::cpu
