// What a calibration found, in a file of its own: corrections are as large as the model.
#include <sstream>

#include "builder/budget/record_fields.h"
#include "builder/budget/records.h"

namespace tenfold::builder {
namespace {

// Bytes as text: two letters each, from 'a' to 'p'.
std::string letters(const void* data, std::size_t bytes) {
  std::string text(2 * bytes, 'a');
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    text[2 * i] = static_cast<char>('a' + byte / 16), text[2 * i + 1] = static_cast<char>('a' + byte % 16);
  }
  return text;
}
// False: these are no such letters for so many bytes.
bool read_letters(std::string_view text, void* data, std::size_t bytes) {
  if (text.size() != 2 * bytes) return false;
  for (std::size_t i = 0; i < bytes; ++i) {
    const int high = text[2 * i] - 'a', low = text[2 * i + 1] - 'a';
    if (high < 0 || high > 15 || low < 0 || low > 15) return false;
    static_cast<unsigned char*>(data)[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

// What stands beside ranges (quant/corrections.h), line by line.
void write_corrections(const quant::Corrections& corrections, std::vector<std::string>& lines) {
  const auto floats = [&](const char* what, const auto& named) {
    for (const auto& [value, numbers] : named)
      lines.push_back(line(what, letters(numbers.data(), numbers.size() * sizeof(float)), value));
  };
  floats("channels", corrections.channels), floats("biases", corrections.biases);
  for (const auto& [value, tensor] : corrections.weights) {
    std::string shape;
    for (const std::int64_t extent : tensor.shape()) shape += cat(shape.empty() ? "" : " ", extent);
    lines.push_back(line("weights", shape, letters(tensor.raw(), static_cast<std::size_t>(tensor.bytes())), value));
  }
}

bool read_floats(Reader& in, quant::Corrections::Named<std::vector<float>>& named) {
  const std::string_view content = in.next();
  std::vector<float> numbers(content.size() / (2 * sizeof(float)));
  if (!read_letters(content, numbers.data(), numbers.size() * sizeof(float))) return false;
  named[in.rest()] = std::move(numbers);
  return true;
}

bool read_weights(Reader& in, quant::Corrections::Named<Tensor>& named) {
  std::istringstream extents{std::string(in.next())};
  const std::string_view content = in.next();
  Shape shape;
  const auto max = static_cast<std::int64_t>(content.size());
  std::int64_t elements = 1;
  for (std::int64_t extent = 0; extents >> extent; shape.push_back(extent), elements *= extent)
    if (extent < 1 || elements > max / extent) return false;
  if (2 * elements != max) return false;
  Tensor tensor(DType::i8, shape);
  if (!read_letters(content, tensor.mutable_raw(), static_cast<std::size_t>(tensor.bytes()))) return false;
  named[in.rest()] = std::move(tensor);
  return true;
}

// False: the line is none of these, or damaged.
bool read_correction(std::string_view what, Reader& in, quant::Corrections& corrections) {
  if (what == "channels") return read_floats(in, corrections.channels);
  if (what == "biases") return read_floats(in, corrections.biases);
  return what == "weights" && read_weights(in, corrections.weights);
}

}  // namespace

RecordFile BudgetRecords::file_of_ranges() const {
  return {config_.timing_cache, ".ranges." + text_of(key("ranges", calibration_)), "tenfold precision 1"};
}
bool BudgetRecords::find_ranges(Findings& findings) const {
  const auto lines = file_of_ranges().find(key("ranges", calibration_));
  if (!lines || lines->empty()) return false;
  CalibrationReport reported;
  quant::Ranges ranges;
  Reader head(lines->front());
  reported.samples = static_cast<int>(head.number()), reported.values = static_cast<int>(head.number()), reported.method = head.rest();
  for (std::size_t i = 1; i < lines->size(); ++i) {
    Reader in((*lines)[i]);
    const std::string_view what = in.next();
    if (what == "range") {
      const double low = in.number(), high = in.number();
      ranges[in.rest()] = {low, high};
    } else if (what == "none") {
      reported.without_range.push_back(in.rest());
    } else if (what == "correction") {
      const double before = in.number(), after = in.number();
      const bool kept = in.number() != 0;
      reported.corrections.push_back({in.rest(), before, after, kept});
    } else if (!read_correction(what, in, ranges.corrections)) {
      return false;
    }
  }
  findings.ranges = std::move(ranges), findings.calibration = std::move(reported);
  return true;
}
void BudgetRecords::add_ranges(const Findings& findings) const {
  if (!findings.ranges || !used()) return;
  const CalibrationReport& reported = findings.calibration;
  std::vector<std::string> lines{line(reported.samples, reported.values, reported.method)};
  for (const auto& [value, range] : *findings.ranges) lines.push_back(line("range", exact(range.low), exact(range.high), value));
  for (const std::string& value : reported.without_range) lines.push_back(line("none", value));
  for (const CorrectionReport& r : reported.corrections)
    lines.push_back(line("correction", exact(r.before), exact(r.after), r.kept, r.name));
  write_corrections(findings.ranges->corrections, lines);
  file_of_ranges().add(key("ranges", calibration_), lines, log_);
}

}  // namespace tenfold::builder
