// A ladder: ways to an engine, the best first. The first that works is taken; where it fails later, the next one is.
//
// A ladder has no clock and no thread: who runs the engine says when it failed, and when to begin at the top again. Not thread safe;
// engines that were handed out stay as they are.
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

struct Rung {
  std::string name;                    // for people: "resnet.plan on cuda:0"
  std::function<Engine()> open;        // throws Error if this way is closed
};
// A plan's file, on a device ("cuda:0"; empty: as the plan has it).
TENFOLD_API Rung plan_rung(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// The same by load_compatible(). In the builder library.
TENFOLD_API Rung compatible_rung(const std::string& plan_path, const std::string& device = "", LoadOptions options = {});
// A model's file, built for config.device; from the cache if there is one, which must live as long. In the builder library.
TENFOLD_API Rung model_rung(const std::string& onnx_path, const BuildConfig& config, const PlanCache* cache = nullptr);

class TENFOLD_API Ladder {
 public:
  explicit Ladder(std::vector<Rung> rungs);            // throws invalid_argument if there are none

  // Why a way is not taken.
  struct Failure { int rung = 0; std::string name; ErrorKind kind = ErrorKind::internal; std::string why; };

  // The engine of the first rung from here on that opens. Throws, with all reasons, if none is left: with the last one's kind.
  const Engine& engine();
  int rung() const { return rung_; }                   // which one is open, or would be tried next
  bool open() const { return engine_.has_value(); }
  // The open engine failed (a device is gone): it is let go, and engine() goes on with the next. False: none is left.
  bool hand_on(ErrorKind kind, const std::string& why);
  void restart();                                      // from the top; failures are forgotten
  const std::vector<Failure>& failures() const { return failures_; }   // in the order in which they came

 private:
  std::vector<Rung> rungs_;
  std::vector<Failure> failures_;
  std::optional<Engine> engine_;
  int rung_ = 0;
};

}  // namespace tenfold
