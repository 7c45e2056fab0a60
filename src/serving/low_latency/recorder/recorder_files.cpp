// The files of HdrHistogram: encoded histograms, logs of them, and percentile distributions.
//
// Layouts are those of HdrHistogram's own encoder (V2, public domain). The zlib stream holds stored blocks: runs of empty
// buckets take a few bytes already.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iterator>

#include "base/check.h"
#include "low_latency/recorder/recorder.h"
#include "tenfold/internal/base64.h"

namespace tenfold {

using namespace low_latency;

namespace {

constexpr std::uint32_t kCookie = 0x1c849303 | 0x10, kCompressedCookie = 0x1c849304 | 0x10;

template <class T>
void put(std::string& to, T value) {   // big end first
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8)
    to += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
}

// ZigZag, seven bits a byte, low ones first; counts have less than 56 bits.
void put_count(std::string& to, std::int64_t value) {
  std::uint64_t bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) to += static_cast<char>(bits | 0x80);
  to += static_cast<char>(bits);
}

std::string zlib_stored(const std::string& bytes) {
  constexpr std::size_t kBlock = 65535;
  std::string out("\x78\x01", 2);
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += kBlock) {
    const std::string block = bytes.substr(at, kBlock);
    const auto size = static_cast<std::uint16_t>(block.size());
    out += at + kBlock >= bytes.size() ? '\1' : '\0';
    for (const std::uint16_t two : {size, static_cast<std::uint16_t>(~size)})
      out += static_cast<char>(two), out += static_cast<char>(two >> 8);
    out += block;
  }
  std::uint32_t a = 1, b = 0;   // Adler-32
  for (const char c : bytes) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
  put(out, b << 16 | a);
  return out;
}

template <class... Args>
std::string formatted(const char* format, Args... args) {
  char line[256];
  return {line, static_cast<std::size_t>(std::snprintf(line, sizeof line, format, args...))};
}

}  // namespace

std::string LatencyRecorder::encode() const {
  const State& s = *state_;
  std::string counts;
  const int end = s.count ? bucket_of(s.max) + 1 : 0;
  for (int i = 0; i < end;) {
    std::int64_t empty = 0;
    while (i < end && s.counts[static_cast<std::size_t>(i)] == 0) ++empty, ++i;
    if (empty > 0) put_count(counts, -empty);
    else put_count(counts, static_cast<std::int64_t>(s.counts[static_cast<std::size_t>(i++)]));
  }
  std::string plain;
  put(plain, kCookie);
  put(plain, static_cast<std::uint32_t>(counts.size()));
  put(plain, std::uint32_t{0});                              // nothing is shifted
  put(plain, std::uint32_t{kDigits});
  put(plain, std::int64_t{1});
  put(plain, kLongest);
  put(plain, std::bit_cast<std::uint64_t>(1.0));             // values are whole
  const std::string stream = zlib_stored(plain + counts);
  std::string out;
  put(out, kCompressedCookie);
  put(out, static_cast<std::uint32_t>(stream.size()));
  return to_base64(out + stream);
}

std::string LatencyRecorder::percentile_distribution() const {
  const State& s = *state_;
  constexpr double kTicks = 5, kUnit = 1000;   // lines for each halving of what is above; ns in a microsecond
  std::string out = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  const auto line = [&](std::int64_t value, double level, std::uint64_t seen) {
    out += formatted("%12.3f %2.12f %10llu", static_cast<double>(value) / kUnit, level / 100, static_cast<unsigned long long>(seen));
    if (level < 100) out += formatted(" %14.2f", 1 / (1 - level / 100));
    out += '\n';
  };
  double level = 0;
  std::uint64_t seen = 0;
  for (int i = 0; i < kBuckets && seen < s.count; ++i) {
    if (s.counts[static_cast<std::size_t>(i)] == 0) continue;
    seen += s.counts[static_cast<std::size_t>(i)];
    const std::int64_t value = begin_of(i) + width_of(i) - 1;
    const double share = 100.0 * static_cast<double>(seen) / static_cast<double>(s.count);
    while (seen < s.count && share >= level) {
      line(value, level, seen);
      level += 100 / (kTicks * std::exp2(std::floor(std::log2(100 / (100 - level))) + 1));
    }
    if (seen == s.count) line(value, 100, seen);
  }
  out += formatted("#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean() / kUnit, standard_deviation() / kUnit);
  out += formatted("#[Max     = %12.3f, Total count    = %12llu]\n", static_cast<double>(max()) / kUnit,
                   static_cast<unsigned long long>(s.count));
  out += formatted("#[Buckets = %12d, SubBuckets     = %12d]\n", kDoublings, static_cast<int>(2 * kHalf));
  return out;
}

std::string histogram_log(double began_s, std::span<const HistogramLogEntry> entries) {
  require(std::abs(began_s) < 1e15, ErrorKind::invalid_argument, "the log began at ", began_s, " seconds since 1970");   // nor a NaN
  const auto seconds = static_cast<std::time_t>(began_s);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char date[64];
  std::strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &utc);
  std::string out = "#[Logged with Tenfold]\n#[Histogram log format version 1.3]\n";
  out += formatted("#[StartTime: %.3f (seconds since epoch), %s]\n", began_s, date);
  out += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
  for (const HistogramLogEntry& e : entries) {
    require(e.tag.find_first_of(", \t\r\n") == std::string::npos, ErrorKind::invalid_argument, "the tag '", e.tag,
            "' holds a comma, a blank or the end of a line");
    require(e.recorder != nullptr, ErrorKind::invalid_argument, "a histogram log's entry has no recorder");
    if (!e.tag.empty()) out += "Tag=" + e.tag + ",";
    out += formatted("%.3f,%.3f,%.3f,", e.start_s, e.length_s, static_cast<double>(e.recorder->max()) / 1e6);
    out += e.recorder->encode() + "\n";
  }
  return out;
}

}  // namespace tenfold
