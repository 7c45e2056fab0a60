// Values that f16 cannot hold: found by running the graph in f32 on the CPU before it is narrowed, on the caller's data or at random.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "builder/builder.h"

namespace tenfold::builder {

struct OverflowCheck {
  const BuildConfig& config;
  // Rewrites the source for these ranges as the build does, up to where precision is decided.
  std::function<void(ir::Graph&, const std::vector<plan::Range>&)> rewrite;
  // The source with those extents open that profiles fix, and its ranges, so that a few examples of a batch will do; may be empty.
  std::function<std::pair<ir::Graph, std::vector<plan::Range>>()> open;
  BuildReport* report = nullptr;
  // What one profile finds on the caller's inputs, which are run at their own extents, the next ones find, too. May be null.
  std::optional<std::map<std::string, double>>* known = nullptr;
};

// Names of values of `rewritten` (the source at `ranges`) that are to stay f32, told to the log and the report with how large they became.
// A run that fails is told, too, and finds nothing.
std::set<std::string> values_beyond_f16(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges,
                                        const OverflowCheck& check);

}  // namespace tenfold::builder
