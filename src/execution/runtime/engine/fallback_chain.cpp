// The fallback chain's walk, and candidates that are plans.
#include "tenfold/fallback_chain.h"

#include "base/check.h"

namespace tenfold {

EngineCandidate plan_candidate(const std::string& path, const std::string& device, LoadOptions options) {
  if (!device.empty()) options.device = device;
  std::string name = options.device.empty() ? path : path + " on " + options.device;
  return {std::move(name), [path, options] { return Engine::load(path, options); }};
}

FallbackChain::FallbackChain(std::vector<EngineCandidate> candidates) : candidates_(std::move(candidates)) {
  require(!candidates_.empty(), ErrorKind::invalid_argument, "a fallback chain needs a candidate");
  for (const EngineCandidate& candidate : candidates_)
    require(candidate.open != nullptr, ErrorKind::invalid_argument, "the candidate '", candidate.name, "' opens nothing");
}

const Engine& FallbackChain::engine() {
  for (; !engine_ && candidate_ < static_cast<int>(candidates_.size()); ++candidate_) {
    const EngineCandidate& candidate = candidates_[static_cast<std::size_t>(candidate_)];
    try {
      engine_ = candidate.open();
      return *engine_;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;  // who asked to stop does not want the next
      failures_.push_back({candidate_, candidate.name, error.kind(), error.what()});
    } catch (const std::bad_alloc&) {
      failures_.push_back({candidate_, candidate.name, ErrorKind::out_of_memory, "out of memory"});
    }
  }
  if (engine_) return *engine_;
  std::string all;
  for (const Failure& f : failures_) all += cat(all.empty() ? "" : "; ", f.name, ": ", f.why);
  fail(failures_.back().kind, cat("no way to an engine is left: ", all));
}

bool FallbackChain::report_failure(ErrorKind kind, const std::string& why) {
  require(engine_.has_value(), ErrorKind::invalid_argument, "no engine of the fallback chain is open that could have failed");
  failures_.push_back({candidate_, candidates_[static_cast<std::size_t>(candidate_)].name, kind, why});
  engine_.reset();
  return ++candidate_ < static_cast<int>(candidates_.size());
}

void FallbackChain::restart() {
  engine_.reset();
  failures_.clear();
  candidate_ = 0;
}

}  // namespace tenfold
