// A fallback chain: a list of ways to get an engine, the best first. The first that works is taken. Where that engine fails
// later, the next way is.
//
// A fallback chain has no clock and no thread. The caller, who runs the engine, says when it failed and when to begin at the
// top again. Not thread safe. Engines that the fallback chain has given stay as they are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/error.h"
#include "tenfold/export.h"

namespace tenfold {

struct BuildConfig;
class PlanCache;

// One way to get an engine.
struct EngineCandidate {
  std::string name;                    // for people: "resnet.plan on cuda:0"
  std::function<Engine()> open;        // throws Error if this way does not work
};
// Loads the file of a plan for a device ("cuda:0"; empty: the plan's own kind).
TENFOLD_API EngineCandidate plan_candidate(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// The same by load_compatible(). It is in the builder library.
TENFOLD_API EngineCandidate compatible_candidate(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// Builds the file of a model for config.device, or takes the plan from the cache, which must outlive the candidate. It is in
// the builder library.
TENFOLD_API EngineCandidate model_candidate(const std::string& onnx_path, const BuildConfig& config, const PlanCache* cache = nullptr);

// The open candidate of a list, and why those before it failed.
class TENFOLD_API FallbackChain {
 public:
  explicit FallbackChain(std::vector<EngineCandidate> candidates);            // throws invalid_argument for an empty list

  // Why a candidate is not taken.
  struct Failure { int candidate = 0; std::string name; ErrorKind kind = ErrorKind::internal; std::string why; };

  // The engine of the open candidate. If none is open, opens the first that works from here on. If none is left, throws an
  // Error with all reasons and the kind of the last one.
  const Engine& engine();
  int candidate() const { return candidate_; }                   // the candidate that is open, or would be tried next
  bool open() const { return engine_.has_value(); }
  // Call it when the open engine failed (a device is gone). The fallback chain lets the engine go, and engine() goes on with
  // the next candidate. Returns false if none is left.
  bool report_failure(ErrorKind kind, const std::string& why);
  void restart();                                      // begins at the top; failures are forgotten
  const std::vector<Failure>& failures() const { return failures_; }   // in the order in which they came

 private:
  std::vector<EngineCandidate> candidates_;
  std::vector<Failure> failures_;
  std::optional<Engine> engine_;
  int candidate_ = 0;
};

}  // namespace tenfold
