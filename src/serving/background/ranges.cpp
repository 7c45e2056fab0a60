// Ranges around shapes.
#include "background/ranges.h"

#include <bit>

#include "base/check.h"

namespace tenfold::background {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // of an extent that is rounded

std::int64_t below(std::int64_t extent) {
  return extent > 0 && extent < kLargest ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent)))
                                         : extent;
}
std::int64_t above(std::int64_t extent) {
  return extent > 0 && extent < kLargest ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent)))
                                         : extent;
}

std::string open_text(const Shape& declared) {
  std::string out;
  for (const std::int64_t extent : declared)
    out += (out.empty() ? "" : ", ") + (extent < 0 ? std::string("any") : std::to_string(extent));
  return "[" + out + "]";
}

}  // namespace

void check_shapes(std::span<const OpenInput> inputs, std::span<const Shape> shapes) {
  require(shapes.size() == inputs.size(), ErrorKind::invalid_argument, shapes.size(),
          " shapes are given, the model has ", inputs.size(), " inputs with open extents");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape& declared = inputs[i].declared;
    bool fits = declared.size() == shapes[i].size();
    for (std::size_t d = 0; fits && d < declared.size(); ++d)
      fits = shapes[i][d] >= 0 && (declared[d] < 0 || declared[d] == shapes[i][d]);
    if (!fits)
      fail(ErrorKind::invalid_argument, cat("input '", inputs[i].name, "' has the shape ", open_text(declared), ", [",
                                            text(shapes[i]), "] is given"));
  }
}

Ranges exactly(std::span<const Shape> shapes) {
  Ranges ranges;
  for (const Shape& s : shapes) ranges.push_back({s, s, s});
  return ranges;
}

Ranges around(std::span<const OpenInput> inputs, std::span<const Shape> shapes) {
  Ranges ranges = exactly(shapes);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::size_t d = 0; d < shapes[i].size(); ++d)
      if (inputs[i].declared[d] < 0) ranges[i].min[d] = below(shapes[i][d]), ranges[i].max[d] = above(shapes[i][d]);
  return ranges;
}

Ranges tuned_for(Ranges ranges, std::span<const Shape> opt) {
  for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i].opt = opt[i];
  return ranges;
}

bool fit(const Ranges& ranges, std::span<const Shape> shapes) noexcept {
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::size_t d = 0; d < shapes[i].size(); ++d)
      if (shapes[i][d] < ranges[i].min[d] || shapes[i][d] > ranges[i].max[d]) return false;
  return true;
}

bool exact(const Ranges& ranges) noexcept {
  for (const ShapeRange& r : ranges)
    if (r.min != r.max) return false;
  return true;
}

double width(const Ranges& ranges) noexcept {
  double sum = 0;
  for (const ShapeRange& r : ranges)
    for (std::size_t d = 0; d < r.min.size(); ++d) sum += static_cast<double>(r.max[d] - r.min[d]);
  return sum;
}

OptimizationProfile profile_of(std::span<const OpenInput> inputs, const Ranges& ranges) {
  OptimizationProfile profile;
  for (std::size_t i = 0; i < ranges.size(); ++i) profile[inputs[i].name] = ranges[i];
  return profile;
}

std::string text_of(std::span<const OpenInput> inputs, const Ranges& ranges) {
  std::string out;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ShapeRange& r = ranges[i];
    out += cat(i ? ", " : "", inputs[i].name, " ", text(r.min));
    if (r.min != r.max) out += cat(" to ", text(r.max), " (", text(r.opt), ")");
  }
  return out.empty() ? "the model's own shapes" : out;
}

}  // namespace tenfold::background
