#include "quant/calibration_cache.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/check.h"
#include "quant/never_negative.h"

namespace tenfold::quant {
namespace {

constexpr float kLevels = 127;

// For messages: the beginning of what a file holds, which may be anything.
std::string readable(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

bool is_head(std::string_view line) {
  if (!line.starts_with("TRT-")) return false;
  const std::size_t digits = line.find_first_not_of("0123456789", 4);
  return digits != std::string_view::npos && digits > 4 && line[digits] == '-' &&
         (line.ends_with("Calibration2") || line.ends_with("Calibration"));
}

std::string_view algorithm(std::string_view method) { return method == "minmax" ? "MinMaxCalibration" : "EntropyCalibration2"; }

float scale_in(std::string_view digits, const std::string& where) {
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  require(error == std::errc() && end == digits.data() + digits.size() && !digits.empty(), ErrorKind::io, where, ": '", readable(digits),
          "' is no float in up to eight hexadecimal digits");
  const float scale = std::bit_cast<float>(bits);
  require(std::isfinite(scale) && scale >= 0, ErrorKind::io, where, ": the scale is ", scale, ", a finite one of at least 0 is expected");
  return scale;
}

std::optional<double> number_of(const ir::Value* v) {
  if (!v->is_constant() || v->constant->tensor.size() != 1) return {};
  return v->constant->tensor.as_double(0);
}

}  // namespace

CalibrationCache read_calibration_cache(std::string_view text, const std::string& what) {
  CalibrationCache cache;
  std::set<std::string_view> names;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = cat(what, ", line ", number);
    if (number == 1) {
      require(is_head(line), ErrorKind::io, what, " is no calibration cache: it begins with '", readable(line),
              "', one of TensorRT's with TRT-<version>-EntropyCalibration2 or the like");
      cache.head = line;
      continue;
    }
    if (line.empty()) continue;
    const std::size_t colon = line.rfind(": ");
    require(colon != std::string_view::npos && colon > 0, ErrorKind::io, where, ": '", readable(line), "' is not 'name: digits'");
    const std::string_view name = line.substr(0, colon);
    require(names.insert(name).second, ErrorKind::io, where, ": '", readable(name), "' stands there twice");
    cache.scales.emplace_back(name, scale_in(line.substr(colon + 2), where));
  }
  require(!cache.head.empty(), ErrorKind::io, what, " is empty");
  return cache;
}

std::string write_calibration_cache(const CalibrationCache& cache) {
  std::string text = cache.head + "\n";
  for (const auto& [name, scale] : cache.scales) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%x", std::bit_cast<std::uint32_t>(scale));
    text += name + ": " + digits + "\n";
  }
  return text;
}

Ranges ranges_of(const CalibrationCache& cache, const ir::Graph& graph, const std::set<std::string>& requested) {
  const std::map<std::string_view, float> scales(cache.scales.begin(), cache.scales.end());
  Ranges ranges;
  for (const auto& value : graph.values()) {
    const auto at = scales.find(value->name);
    if (!requested.count(value->name) || at == scales.end() || at->second == 0) continue;
    const double max = static_cast<double>(at->second) * static_cast<double>(kLevels);
    ranges[value->name] = {never_negative(value.get(), number_of) ? 0 : -max, max};
  }
  return ranges;
}

CalibrationCache cache_of(const Ranges& ranges, std::string_view method) {
  CalibrationCache cache{.head = cat("TRT-101600-", algorithm(method)), .scales = {}};
  for (const auto& [name, range] : ranges)
    if (!name.empty() && name.find_first_of("\r\n") == std::string::npos)   // a line has no room for others
      cache.scales.emplace_back(name, static_cast<float>(std::max(range.high, -range.low)) / kLevels);
  return cache;
}

}  // namespace tenfold::quant
