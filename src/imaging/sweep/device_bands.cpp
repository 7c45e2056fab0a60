// Rows by speed first, then bands of a device's rows where its share of the memory asks for them.
#include "sweep/device_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tenfold::imaging {

std::vector<Range> rows_by_speed(std::span<const double> speeds, std::span<const std::int64_t> ends,
                                 std::int64_t first_row) {
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const std::int64_t rows = ends.back() - first_row;
  std::vector<Range> bands;
  double share = 0;
  std::int64_t begin = first_row;
  for (std::size_t d = 0; d < speeds.size(); ++d) {
    share += speeds[d] / all;
    const double ideal = static_cast<double>(first_row) + share * static_cast<double>(rows);
    std::int64_t end = begin;
    for (const std::int64_t one : ends)
      if (one > begin && std::abs(static_cast<double>(one) - ideal) < std::abs(static_cast<double>(end) - ideal)) end = one;
    if (d + 1 == speeds.size()) end = ends.back();
    bands.push_back({begin, end});
    begin = end;
  }
  return bands;
}

MemoryShare share_memory(std::int64_t memory, std::span<const Range> rows) {
  const std::int64_t devices = std::count_if(rows.begin(), rows.end(), [](Range one) { return one.count() > 0; });
  if (memory <= 0) return {memory, memory, devices};   // no bound, or what is refused later
  return {memory, std::max<std::int64_t>(1, memory / devices), devices};
}

void within_share(const MemoryShare& share, const std::function<void()>& go) {
  try {
    go();
  } catch (const Error& error) {
    const std::string what = error.what();
    if (share.devices < 2 || !what.starts_with(cat("memory ", share.each, ": "))) throw;
    fail(error.kind(), cat("memory ", share.all, ", shared by ", share.devices, " devices: ", what, ", for each device"));
  }
}

std::vector<DeviceBand> bands_of_devices(const SweepShape& shape, std::span<const double> speeds, std::int64_t memory,
                                         std::int64_t align) {
  require(!speeds.empty() && std::all_of(speeds.begin(), speeds.end(), [](double s) { return s > 0 && std::isfinite(s); }),
          ErrorKind::invalid_argument, "speeds of devices: expected one or more, each above 0");
  require(align > 0, ErrorKind::invalid_argument, "bands of a multiple of ", align, " rows: expected at least 1");
  const std::vector<Range> rows =
      rows_by_speed(speeds, possible_ends(shape.windows.grid[1], shape.options.extents[1], align), 0);
  const MemoryShare share = share_memory(memory, rows);
  std::vector<DeviceBand> bands;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    if (rows[d].count() == 0) continue;
    within_share(share, [&] {
      std::int64_t begin = rows[d].begin;
      for (const std::int64_t end : cut_bands(shape, share.each, align, rows[d]))
        bands.push_back({static_cast<int>(d), begin, end}), begin = end;
    });
  }
  return bands;
}

}  // namespace tenfold::imaging
