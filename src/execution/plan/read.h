// Loading plans: the structure is checked here byte by byte; what the plan asks for is checked by verify.h.
#pragma once

#include <span>
#include <string>

#include "plan/plan.h"
#include "tenfold/engine.h"
#include "tenfold/inspect.h"

namespace tenfold::plan {

struct ReadOptions {
  bool verify_weights = true;               // one pass over them for their checksum; all else is always checked
  WeightsMode weights = WeightsMode::automatic;
  // Memory that holds just these weights already, whose checksum was compared; null: none. Then they are not copied.
  std::function<std::shared_ptr<const void>(std::span<const std::byte> weights, std::uint64_t checksum)> known_weights = {};
  bool code = true;                         // device code that the plan carries; false: it is compiled again
};

// Throw io if the file cannot be read, plan_refused if it is damaged, of another format version, or no plan. The file is read once, and
// what was checked is what the plan holds, but for WeightsMode::map: then the weights stay in the file.
Plan load(const std::string& path, const ReadOptions& options = {});
// The bytes may go away afterwards: weights are copied.
Plan load(std::span<const std::byte> bytes, const ReadOptions& options = {});
// Reads every byte once, into memory where the weights stay.
Plan load(const PlanReader& reader, const ReadOptions& options = {});
// The model that a plan of any version keeps, without `owner` a copy, and its labels; empty if it keeps none. Throws plan_refused where the
// file is damaged anywhere: then nothing is to be built from it.
struct KeptPart {
  KeptModel model;
  std::map<std::string, std::string> labels;
};
KeptPart read_kept(std::span<const std::byte> file, const std::shared_ptr<const void>& owner);
// The labels alone, of a plan of any version; the weights are not touched.
std::map<std::string, std::string> read_labels(const std::string& path);
// Of a plan of any version; the weights are not touched. Throws plan_refused where the file is damaged, or no plan.
PlanVersion read_version(const std::string& path);
// The metadata section alone: a plan without weights.
Plan read_metadata(std::span<const std::byte> bytes);

}  // namespace tenfold::plan
