// Parts of given rows and planes begin with the batches of all results.
#include "sweep/requested_parts.h"

#include "base/check.h"
#include "base/log.h"

namespace tenfold::imaging {
namespace {

// Batches of a part are those of all results, so that predictions are, too.
Part aligned(const windows::Grid& grid, std::int64_t batch, Part part) {
  if (!part.all_rows(grid)) return part;   // which begin anew with each plane
  const std::int64_t group = windows::count(grid) / static_cast<std::int64_t>(grid[0].starts.size());
  while (static_cast<std::int64_t>(part.plane_start) * group % batch != 0) --part.plane_start;
  return part;
}

}  // namespace

std::vector<Part> requested_parts(const windows::WindowState& windows, const OutputOptions& outputs,
                               const SweepOptions& options, const std::function<SweepShape()>& shape) {
  const Range planes{options.first_plane, outputs.extents[0]};
  const Range rows{options.first_row, options.end_row > 0 ? options.end_row : outputs.extents[1]};
  const Part whole = whole_part(windows.grid, outputs);
  const bool all = planes == whole.planes && rows == whole.rows;
  if (all && options.memory == 0) return {whole};
  require(all || options.memory == 0, ErrorKind::invalid_argument,
          "memory bounds the sweep of all results, not of a part; choose the rows by sweep_bands()");
  require(0 <= planes.begin && planes.begin < planes.end && (planes.begin == 0 || outputs.images == 1),
          ErrorKind::invalid_argument, "first_plane ", planes.begin, ": expected a plane of one image with ",
          planes.end);
  require(0 <= rows.begin && rows.begin < rows.end && rows.end <= whole.rows.end, ErrorKind::invalid_argument, "rows ",
          rows.begin, " to ", rows.end, ": expected some of ", whole.rows.end);
  const SweepShape needs = shape();
  if (!all)
    return {aligned(windows.grid, needs.batch, make_part(windows.grid, outputs, needs.outputs, planes, rows))};
  std::vector<Part> parts;
  std::int64_t begin = 0;
  for (const std::int64_t end : cut_bands(needs, options.memory, 1)) {
    parts.push_back(make_part(windows.grid, outputs, needs.outputs, planes, {begin, end}));
    begin = end;
  }
  return parts;
}

void log_bands(const OutputOptions& outputs, const SweepOptions& options, std::size_t parts, std::int64_t windows,
                std::int64_t in_one) {
  if (parts < 2) return;
  Log(options.log)(Severity::info, "sweep: ", options.memory, " bytes: axis ", 1 - outputs.lifted, " is cut into ",
                   parts, " bands, and ", windows, " windows are computed, ", in_one, " would do in one");
}

}  // namespace tenfold::imaging
