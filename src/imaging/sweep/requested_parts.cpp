// Parts of given rows and planes begin with the batches of all results.
#include "sweep/requested_parts.h"

#include "base/check.h"
#include "base/log.h"
#include "parts/batches.h"

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
  require(0 <= planes.begin && planes.begin < planes.end && (planes.begin == 0 || outputs.images == 1),
          ErrorKind::invalid_argument, "first_plane ", planes.begin, ": expected a plane of one image with ",
          planes.end);
  require(0 <= rows.begin && rows.begin < rows.end && rows.end <= whole.rows.end, ErrorKind::invalid_argument, "rows ",
          rows.begin, " to ", rows.end, ": expected some of ", whole.rows.end);
  const SweepShape needs = shape();
  const std::vector<std::int64_t> ends = cut_bands(needs, options.memory, 1, rows);
  std::vector<Part> parts;
  std::int64_t begin = rows.begin;
  for (const std::int64_t end : ends) {
    parts.push_back(make_part(windows.grid, outputs, needs.outputs, planes, {begin, end}));
    begin = end;
  }
  if (parts.size() == 1) parts[0] = aligned(windows.grid, needs.batch, parts[0]);
  return parts;
}

void log_bands(const windows::Grid& grid, const OutputOptions& outputs, const SweepOptions& options,
               std::span<const Part> parts) {
  if (parts.size() < 2) return;
  const auto windows_of = [&](const Part& part) { return Batches(grid, part, outputs.images, 1, false).total(); };
  std::int64_t windows = 0;
  for (const Part& part : parts) windows += windows_of(part);
  Part in_one = parts.front();
  in_one.rows.end = parts.back().rows.end, in_one.row_end = parts.back().row_end;
  Log(options.log)(Severity::info, "sweep: ", options.memory, " bytes: axis ", 1 - outputs.lifted, " is cut into ",
                   parts.size(), " bands, and ", windows, " windows are computed, ", windows_of(in_one),
                   " would do in one");
}

}  // namespace tenfold::imaging
