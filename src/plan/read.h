// Loading plans: the structure is checked here byte by byte; what the plan asks for is checked by verify.h.
#pragma once

#include <span>
#include <string>

#include "plan/plan.h"
#include "tenfold/engine.h"

namespace tenfold::plan {

struct ReadOptions {
  bool verify_weights = true;               // one pass over them for their checksum; all else is always checked
  WeightsMode weights = WeightsMode::automatic;
  bool code = true;                         // device code that the plan carries; false: it is compiled again
};

// Throw io if the file cannot be read, plan_refused if it is damaged, of another format version, or no plan.
Plan load(const std::string& path, const ReadOptions& options = {});
// The bytes may go away afterwards: weights are copied.
Plan load(std::span<const std::byte> bytes, const ReadOptions& options = {});
// The metadata section alone: a plan without weights.
Plan read_metadata(std::span<const std::byte> bytes);

}  // namespace tenfold::plan
