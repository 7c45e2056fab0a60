// A ladder: a list of ways to get an engine, the best first. The first that works is taken. Where that engine fails
// later, the next way is.
//
// A ladder has no clock and no thread. The caller, who runs the engine, says when it failed and when to begin at the
// top again. Not thread safe. Engines that the ladder has given stay as they are.
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
struct Rung {
  std::string name;                    // for people: "resnet.plan on cuda:0"
  std::function<Engine()> open;        // throws Error if this way does not work
};
// Loads the file of a plan for a device ("cuda:0"; empty: the plan's own kind).
TENFOLD_API Rung plan_rung(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// The same by load_compatible(). It is in the builder library.
TENFOLD_API Rung compatible_rung(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// Builds the file of a model for config.device, or takes the plan from the cache, which must outlive the rung. It is in
// the builder library.
TENFOLD_API Rung model_rung(const std::string& onnx_path, const BuildConfig& config, const PlanCache* cache = nullptr);

// The open rung of a list, and why those before it failed.
class TENFOLD_API Ladder {
 public:
  explicit Ladder(std::vector<Rung> rungs);            // throws invalid_argument for an empty list

  // Why a rung is not taken.
  struct Failure { int rung = 0; std::string name; ErrorKind kind = ErrorKind::internal; std::string why; };

  // The engine of the open rung. If none is open, opens the first that works from here on. If none is left, throws an
  // Error with all reasons and the kind of the last one.
  const Engine& engine();
  int rung() const { return rung_; }                   // the rung that is open, or would be tried next
  bool open() const { return engine_.has_value(); }
  // Call it when the open engine failed (a device is gone). The ladder lets the engine go, and engine() goes on with
  // the next rung. Returns false if none is left.
  bool hand_on(ErrorKind kind, const std::string& why);
  void restart();                                      // begins at the top; failures are forgotten
  const std::vector<Failure>& failures() const { return failures_; }   // in the order in which they came

 private:
  std::vector<Rung> rungs_;
  std::vector<Failure> failures_;
  std::optional<Engine> engine_;
  int rung_ = 0;
};

}  // namespace tenfold
