#include "builder/model/typical_shapes.h"

#include <algorithm>

#include "base/checked.h"
#include "builder/program/assemble.h"
#include "passes/packing.h"

namespace tenfold::builder {
namespace {

// How much of a batch's padded tokens is text: what the typical masks say, else five sixteenths (40 tokens in the mean of 128), which lies
// between those of batches of mixed length drawn at random (a fifth to a half).
double text_share(const std::string& mask, const BuildConfig& config) {
  std::int64_t kept = 0, all = 0;
  for (const auto& set : config.typical_inputs)
    if (const auto it = set.find(mask); it != set.end())
      for (std::int64_t i = 0; i < it->second.size(); ++i, ++all) kept += it->second.as_double(i) != 0;
  return all > 0 ? static_cast<double>(kept) / static_cast<double>(all) : 0.3125;
}

}  // namespace

ir::SymbolValues typical_shapes(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config) {
  ir::SymbolValues opt;
  constexpr std::int64_t kLarge = 1 << 20, kTypical = 64;
  for (const auto& [name, range] :
       all_bounds(graph))  // symbols that steps define: the largest they can be, or a guess where that says nothing
    opt[name] = range.upper <= kLarge ? range.upper : std::max(range.lower, kTypical);
  for (const plan::Range& r : ranges) opt[r.symbol] = r.opt;
  for (const auto& [symbol, mask] : passes::packed_token_symbols(graph)) {
    const ir::Dims& dims = mask->dims();
    const std::int64_t padded = dims[0].evaluate(opt) * dims[1].evaluate(opt), max = all_bounds(graph).at(symbol).upper;
    const auto text = static_cast<std::int64_t>(text_share(mask->name, config) * static_cast<double>(padded));
    constexpr std::int64_t kRound = 64;  // as GPUs have them
    opt[symbol] = std::min(max, text < kRound ? std::max<std::int64_t>(text, 1) : round_up(text, kRound));
  }
  return opt;
}

}  // namespace tenfold::builder
