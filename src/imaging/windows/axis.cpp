// Places of windows as MONAI 1.6 and nnU-Net compute them, in double where Python does.
#include "windows/axis.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tenfold::windows {
namespace {

// Beginnings `step` apart; the last window is shifted back to end where the image does.
std::vector<std::int64_t> fixed_steps(std::int64_t padded, std::int64_t roi, std::int64_t step) {
  std::vector<std::int64_t> starts;
  for (std::int64_t start = 0;; start += step) {
    starts.push_back(std::min(start, padded - roi));
    if (start + roi >= padded) return starts;
  }
}

// As many windows as the step needs, in equal distances that are rounded half to even.
std::vector<std::int64_t> even_steps(std::int64_t padded, std::int64_t roi, double step) {
  const auto last = static_cast<double>(padded - roi);
  const auto steps = static_cast<std::int64_t>(std::ceil(last / step));
  std::vector<std::int64_t> starts = {0};
  for (std::int64_t i = 1; i <= steps; ++i)
    starts.push_back(
        static_cast<std::int64_t>(std::nearbyint(last / static_cast<double>(steps) * static_cast<double>(i))));
  return starts;
}

}  // namespace

std::int64_t count(const Grid& grid) {
  std::int64_t product = 1;
  for (const Axis& axis : grid) product *= static_cast<std::int64_t>(axis.starts.size());
  return product;
}

std::vector<std::size_t> indices(const Grid& grid, std::int64_t window) {
  std::vector<std::size_t> at(grid.size());
  for (std::size_t a = grid.size(); a-- > 0;) {
    const auto length = static_cast<std::int64_t>(grid[a].starts.size());
    at[a] = static_cast<std::size_t>(window % length);
    window /= length;
  }
  return at;
}

Axis make_axis(std::int64_t image, std::int64_t roi, double overlap, std::int64_t halo, WindowPlacement placement) {
  Axis axis;
  axis.image = image, axis.roi = roi > 0 ? roi : image, axis.halo = halo;
  axis.padded = std::max(axis.image, axis.roi);
  axis.before = (axis.padded - axis.image) / 2;
  require(halo >= 0 && 2 * halo < axis.roi, ErrorKind::invalid_argument, "halo ", halo,
          ": nothing is left of a window of ", axis.roi, "; expected less than half of it");
  const std::int64_t inner = axis.roi - 2 * halo;
  const double wanted = static_cast<double>(axis.roi) * (1 - overlap);
  if (axis.roi == axis.padded)
    axis.starts = {0};
  else if (placement == WindowPlacement::even)
    axis.starts = even_steps(axis.padded, axis.roi, std::clamp(wanted, 1.0, static_cast<double>(inner)));
  else
    axis.starts =
        fixed_steps(axis.padded, axis.roi, std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, inner));
  return axis;
}

std::vector<std::int64_t> padding_map(const Axis& axis, WindowPadding padding) {
  const std::int64_t n = axis.image, after = axis.padded - n - axis.before;
  const std::int64_t most = padding == WindowPadding::reflect ? n - 1 : padding == WindowPadding::circular ? n : after;
  require(after <= most, ErrorKind::invalid_argument, "padding ",
          padding == WindowPadding::reflect ? "reflect" : "circular", ": an extent of ", n, " cannot be padded by ",
          after, ", at most by ", most, "; choose a smaller roi, or padding constant or replicate");
  std::vector<std::int64_t> map(static_cast<std::size_t>(axis.padded));
  for (std::int64_t i = 0; i < axis.padded; ++i) {
    std::int64_t at = i - axis.before;
    if (at < 0 || at >= n) switch (padding) {
        case WindowPadding::constant: at = -1; break;
        case WindowPadding::replicate: at = std::clamp<std::int64_t>(at, 0, n - 1); break;
        case WindowPadding::circular: at = (at + n) % n; break;
        case WindowPadding::reflect: at = at < 0 ? -at : 2 * (n - 1) - at; break;
      }
    map[static_cast<std::size_t>(i)] = at;
  }
  return map;
}

OutputAxis output_axis(const Axis& axis, std::int64_t roi) {
  OutputAxis out;
  // Whole numbers in place of MONAI's product with a quotient in double, which now and then falls below a whole one.
  const auto scaled = [&](std::int64_t at) { return at * roi / axis.roi; };
  out.roi = roi, out.padded = scaled(axis.padded), out.crop_end = out.padded;
  require(axis.halo * roi % axis.roi == 0, ErrorKind::invalid_argument, "halo ", axis.halo, ": of an output with ", roi,
          " voxels for a window of ", axis.roi, ", it is no whole number");
  out.halo = scaled(axis.halo);
  for (const std::int64_t start : axis.starts) out.starts.push_back(scaled(start));
  if (axis.padded > axis.image) {
    const double zoom = static_cast<double>(out.padded) / static_cast<double>(axis.roi);
    out.crop_begin = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(axis.before) * zoom));
    out.crop_end = std::min(
        out.padded, static_cast<std::int64_t>(std::nearbyint(static_cast<double>(axis.before + axis.image) * zoom)));
  }
  return out;
}

}  // namespace tenfold::windows
