// Parsing of names, shapes and sizes inside flags.
#include "flags/specs.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "flags/flags.h"

namespace tenfold::cli {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (c == separator && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& flag, const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : split(text, ',')) {
    const bool quoted = !part.empty() && part.front() == '\'';
    const std::size_t close = quoted ? part.find('\'', 1) : 0;
    if (quoted && close == std::string::npos) throw UsageError("--" + flag + ": the quote in \"" + part + "\" is never closed");
    const std::size_t colon = quoted ? close + 1 : part.find(':');
    if (colon == std::string::npos || colon >= part.size() || part[colon] != ':')
      throw UsageError("--" + flag + ": expected name:value, got '" + part + "'" +
                       (quoted ? "" : " (a name with ':' or ',' goes in single quotes)"));
    const std::string name = quoted ? part.substr(1, close - 1) : part.substr(0, colon);
    if (name.empty()) throw UsageError("--" + flag + ": a name is missing in '" + part + "'");
    pairs.emplace_back(name, part.substr(colon + 1));
  }
  return pairs;
}

void parse_files(const std::string& flag, const std::string& text, std::map<std::string, std::string>& files) {
  std::error_code none;
  const bool is_file = text.ends_with(".npz") || text.ends_with(".npy") || text.ends_with(".pb") || std::filesystem::exists(text, none);
  if (is_file && text.find(':') == std::string::npos) files[""] = text;
  else
    for (auto& [name, file] : parse_pairs(flag, text))
      if (!files.emplace(name, file).second) throw UsageError("--" + flag + " gives '" + name + "' two files");
}

std::map<std::string, Shape> parse_shapes(const std::string& flag, const std::string& text, bool may_be_unnamed) {
  std::map<std::string, Shape> shapes;
  const bool unnamed = may_be_unnamed && !text.empty() && text.find_first_not_of("0123456789x") == std::string::npos;
  for (const auto& [name, value] : unnamed ? std::vector{std::pair{std::string(), text}} : parse_pairs(flag, text)) {
    Shape shape;
    if (!value.empty() && value != "scalar") {
      for (const std::string& word : split(value, 'x')) {
        std::int64_t extent = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
        if (error != std::errc() || end != word.data() + word.size() || extent < 0)
          throw UsageError("--" + flag + ": '" + value + "' is no shape; expected extents joined by x, such as " + name + ":1x3x224x224");
        shape.push_back(extent);
      }
    }
    if (!shapes.emplace(name, shape).second) throw UsageError("--" + flag + " gives '" + name + "' two shapes");
  }
  return shapes;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::int64_t parse_bytes(const std::string& flag, const std::string& text) {
  constexpr double kMiB = 1 << 20;
  static const std::map<std::string, double> units{{"", kMiB}, {"b", 1}, {"k", kMiB / 1024}, {"m", kMiB}, {"g", kMiB * 1024}};
  std::size_t digits = text.size();
  while (digits > 0 && std::isalpha(static_cast<unsigned char>(text[digits - 1]))) --digits;
  std::string unit = lower(text.substr(digits));
  if (unit.ends_with("ib"))
    unit.resize(unit.size() - 2);  // KiB, and KB for as many
  else if (unit.size() == 2 && unit.back() == 'b')
    unit.pop_back();
  const auto factor = units.find(unit);
  if (factor == units.end())
    throw UsageError("--" + flag + ": '" + text + "' is not a size; expected MiB, or a number with B, K, M or G (512M, 1GiB)");
  const double bytes = parse_number(flag, text.substr(0, digits)) * factor->second;
  if (!(bytes >= 0 && bytes < 9e18)) throw UsageError("--" + flag + ": '" + text + "' is out of range, expected 0 to 8 EiB");
  return static_cast<std::int64_t>(bytes);
}

}  // namespace tenfold::cli
