// Lines "magnitude name".
#include "builder/precision/overflow_cache.h"

#include <cstdlib>

#include "base/threads/spread.h"
#include "ir/text.h"

namespace tenfold::builder {

std::string line_of(const Tensor& t) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes()));
  return cat(" ", name(t.dtype()), "[", text(t.shape()), "] ", t.dtype() == DType::string ? "" : text_of(hash128(bytes)), "\n");
}

std::optional<std::map<std::string, double>> OverflowCache::find(const Hash128& key) const {
  const auto lines = file_.find(key);
  if (!lines) return std::nullopt;
  std::map<std::string, double> result;
  for (const std::string& line : *lines) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) return std::nullopt;
    result[line.substr(space + 1)] = std::strtod(line.c_str(), nullptr);
  }
  return result;
}

void OverflowCache::add(const Hash128& key, const std::map<std::string, double>& found, const Log& log) const {
  std::vector<std::string> lines;
  for (const auto& [name, magnitude] : found) lines.push_back(cat(magnitude, " ", name));
  file_.add(key, lines, log);
}

Hash128 overflow_key(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config) {
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  std::string text = cat(TENFOLD_VERSION, "\n", ir::print(source, {.constants = &constants}));
  std::vector<std::string> lines(constants.size());
  std::int64_t bytes = 0;
  for (const auto& constant : constants) bytes += constant->tensor.bytes();
  spread(static_cast<std::int64_t>(constants.size()), bytes,
         [&](std::int64_t i) { lines[static_cast<std::size_t>(i)] = line_of(constants[static_cast<std::size_t>(i)]->tensor); });
  for (const std::string& line : lines) text += line;
  for (const plan::Range& r : ranges) text += cat(r.symbol, " ", r.opt, "\n");
  text += cat("pack ", static_cast<int>(config.pack_tokens), "\n");   // which decide what values are called
  for (const std::string& pass : config.disabled_passes) text += pass + "\n";
  for (const auto& set : config.typical_inputs)
    for (const auto& [input, tensor] : set) text += input + line_of(tensor);
  return hash128(text);
}

}  // namespace tenfold::builder
