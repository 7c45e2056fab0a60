// A record's lines hold fields between tabs, the name last, for names may hold anything but line breaks.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "tenfold/tensor.h"

namespace tenfold::builder {

inline std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

template <class... Fields>
std::string line(const Fields&... fields) {
  std::string text;
  ((text += (text.empty() ? "" : "\t") + cat(fields)), ...);
  return text;
}

// The fields of a line, taken off one by one; a line that is too short gives empty ones.
class Reader {
 public:
  explicit Reader(std::string_view line) : left_(line) {}
  std::string_view next() {
    const std::size_t end = std::min(left_.find('\t'), left_.size());
    const std::string_view field = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return field;
  }
  double number() { return std::strtod(std::string(next()).c_str(), nullptr); }
  std::optional<DType> type() { return dtype_from_name(next()); }
  std::string rest() const { return std::string(left_); }

 private:
  std::string_view left_;
};

}  // namespace tenfold::builder
