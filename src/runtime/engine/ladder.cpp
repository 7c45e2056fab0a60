// The ladder's walk, and rungs that are plans.
#include "tenfold/ladder.h"

#include "base/check.h"

namespace tenfold {

Rung plan_rung(const std::string& path, const std::string& device, LoadOptions options) {
  if (!device.empty()) options.device = device;
  std::string name = options.device.empty() ? path : path + " on " + options.device;
  return {std::move(name), [path, options] { return Engine::load(path, options); }};
}

Ladder::Ladder(std::vector<Rung> rungs) : rungs_(std::move(rungs)) {
  require(!rungs_.empty(), ErrorKind::invalid_argument, "a ladder needs a rung");
  for (const Rung& rung : rungs_) require(rung.open != nullptr, ErrorKind::invalid_argument, "the rung '", rung.name, "' opens nothing");
}

const Engine& Ladder::engine() {
  for (; !engine_ && rung_ < static_cast<int>(rungs_.size()); ++rung_) {
    const Rung& rung = rungs_[static_cast<std::size_t>(rung_)];
    try {
      engine_ = rung.open();
      return *engine_;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;  // who asked to stop does not want the next
      failures_.push_back({rung_, rung.name, error.kind(), error.what()});
    } catch (const std::bad_alloc&) {
      failures_.push_back({rung_, rung.name, ErrorKind::out_of_memory, "out of memory"});
    }
  }
  if (engine_) return *engine_;
  std::string all;
  for (const Failure& f : failures_) all += cat(all.empty() ? "" : "; ", f.name, ": ", f.why);
  fail(failures_.back().kind, cat("no way to an engine is left: ", all));
}

bool Ladder::hand_on(ErrorKind kind, const std::string& why) {
  require(engine_.has_value(), ErrorKind::invalid_argument, "no engine of the ladder is open that could have failed");
  failures_.push_back({rung_, rungs_[static_cast<std::size_t>(rung_)].name, kind, why});
  engine_.reset();
  return ++rung_ < static_cast<int>(rungs_.size());
}

void Ladder::restart() {
  engine_.reset();
  failures_.clear();
  rung_ = 0;
}

}  // namespace tenfold
