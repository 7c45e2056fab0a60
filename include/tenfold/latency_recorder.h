// LatencyRecorder: how long things took, in a histogram of fixed size, and the files that HdrHistogram's tools read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

// Counts times from 1 ns to 60 s in the buckets of an HdrHistogram with 3 significant digits: a bucket is no wider than
// a thousandth of what is in it. It takes 216 KiB whatever is recorded. record() neither allocates, locks nor enters the
// kernel. Not thread safe.
class TENFOLD_API LatencyRecorder {
 public:
  static constexpr std::int64_t kLongest = 60'000'000'000;         // longer times count as this, shorter ones than 1 as 1

  LatencyRecorder();
  ~LatencyRecorder();
  LatencyRecorder(LatencyRecorder&&) noexcept;
  LatencyRecorder& operator=(LatencyRecorder&&) noexcept;

  void record(std::int64_t ns) noexcept;
  void record(std::span<const std::int64_t> ns) noexcept;
  void add(const LatencyRecorder& other) noexcept;                 // all that the other has
  void clear() noexcept;

  std::uint64_t count() const noexcept;
  std::int64_t min() const noexcept;                               // exact; 0 where nothing was recorded
  std::int64_t max() const noexcept;                               // exact
  double mean() const noexcept;                                    // of the middles of buckets, as HdrHistogram's
  double standard_deviation() const noexcept;
  // The least time that `percent` of all times do not exceed, rounded up to the end of its bucket, but no more than
  // max(). 0 where nothing was recorded, and for a NaN.
  std::int64_t percentile(double percent) const noexcept;
  static std::int64_t bucket_width(std::int64_t ns) noexcept;      // of the bucket that such a time is in

  // The histogram as HdrHistogram encodes it: V2, in a zlib stream, in base64.
  std::string encode() const;
  // HdrHistogram's percentile distribution (.hgrm): values in microseconds, five lines for each halving of what is
  // above.
  std::string percentile_distribution() const;

 private:
  struct TENFOLD_NOT_EXPORTED State;
  std::unique_ptr<State> state_;
};

// A line of a histogram log: what was recorded in `length_s` seconds from `start_s` on, seconds since the log began.
struct HistogramLogEntry {
  std::string tag;                     // without commas, blanks and ends of lines; empty: none
  const LatencyRecorder* recorder = nullptr;
  double start_s = 0, length_s = 0;
};
// HdrHistogram's log, version 1.3 (.hlog). `began_s`: when it began, in seconds since 1970. Throws invalid_argument for
// a tag that would break a line.
TENFOLD_API std::string histogram_log(double began_s, std::span<const HistogramLogEntry> entries);

}  // namespace tenfold
