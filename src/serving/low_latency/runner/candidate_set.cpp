// Candidates are opened in order, and compared with the last one that opens.
#include "low_latency/runner/candidate_set.h"

#include <new>

namespace tenfold::low_latency {
namespace {

void refuse(OpenCandidate& candidate, ErrorKind kind, std::string why, const Log& log) {
  candidate.context.reset(), candidate.engine.reset();
  candidate.use = Use::refused;
  candidate.kind = kind, candidate.why = std::move(why);
  log(Severity::warning, "the candidate '", candidate.name, "' is not used: ", candidate.why);
}

// Runs `act`; what it throws becomes the candidate's refusal.
template <class Act>
void attempt(OpenCandidate& candidate, const Log& log, const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;   // who asked to stop does not want the next
    refuse(candidate, error.kind(), error.what(), log);
  } catch (const std::bad_alloc&) {
    refuse(candidate, ErrorKind::out_of_memory, "out of memory", log);
  }
}

void open(OpenCandidate& candidate, const EngineCandidate& way, CandidateSet& set, const Log& log) {
  attempt(candidate, log, [&] {
    Engine engine = way.open();
    MessageLayout layout = layout_of(engine);
    if (!set.slot) {
      set.slot.emplace(std::move(engine));
      candidate.engine = set.slot->get();
      set.layout = std::move(layout);
    } else {
      const std::string other = difference(layout, set.layout);
      require(other.empty(), ErrorKind::plan_refused, "its inputs and outputs are not those of the candidate before it: ", other);
      candidate.engine = std::move(engine);
    }
    candidate.context = std::make_unique<ReadyContext>(*candidate.engine, set.layout);
  });
}

// Its answer to the sample, after all runs that warm it.
void warm(OpenCandidate& candidate, const CandidateSet& set, int runs, std::vector<std::byte>& output, const Log& log) {
  if (!candidate.context) return;
  attempt(candidate, log, [&] {
    output.resize(static_cast<std::size_t>(set.layout.output_bytes));
    for (int i = 0; i < std::max(runs, 1); ++i)
      if (const Status status = candidate.context->run(set.sample_input.data(), output.data(), nullptr); !status)
        fail(ErrorKind::device, cat("a run to warm it failed: ", candidate.context->describe(status)));
  });
}

void compare(CandidateSet& set, const std::vector<std::vector<std::byte>>& outputs, std::size_t truth, double tolerance, const Log& log) {
  for (std::size_t i = 0; i < truth; ++i) {
    OpenCandidate& candidate = *set.candidates[i];
    if (!candidate.context) continue;
    candidate.difference = distance(set.layout, outputs[i].data(), outputs[truth].data());
    if (!(candidate.difference <= tolerance))
      refuse(candidate, ErrorKind::plan_refused,
             cat("its outputs differ from those of '", set.candidates[truth]->name, "' by ", candidate.difference,
                 " of the largest, and ", tolerance, " is allowed: was the plan made from another model?"), log);
  }
}

}  // namespace

std::shared_ptr<CandidateSet> open_candidates(const std::vector<EngineCandidate>& candidates, const RunnerOptions& options,
                                              const Log& log) {
  require(!candidates.empty(), ErrorKind::invalid_argument, "a LatencyRunner needs a candidate");
  auto set = std::make_shared<CandidateSet>();
  for (const EngineCandidate& way : candidates) {
    require(way.open != nullptr, ErrorKind::invalid_argument, "the candidate '", way.name, "' opens nothing");
    OpenCandidate& candidate = *set->candidates.emplace_back(std::make_unique<OpenCandidate>());
    candidate.name = way.name;
    open(candidate, way, *set, log);
  }
  std::vector<std::vector<std::byte>> outputs(candidates.size());
  if (set->slot) set->sample_input = random_inputs(set->layout, 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) warm(*set->candidates[i], *set, options.warm_up_runs, outputs[i], log);
  std::size_t truth = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (set->candidates[i]->context) truth = i;
  if (truth < candidates.size()) {
    if (options.tolerance >= 0) compare(*set, outputs, truth, options.tolerance, log);
    set->sample_output = std::move(outputs[truth]);
    set->unread_output = set->sample_output;
  }
  const OpenCandidate& first = *set->candidates.front();
  if (options.strict && !first.context)
    fail(first.kind, cat("the candidate '", first.name, "' cannot be used, and no other may answer (strict): ", first.why));
  if (truth == candidates.size()) {
    std::string all;
    for (const auto& candidate : set->candidates) all += cat(all.empty() ? "" : "; ", candidate->name, ": ", candidate->why);
    fail(first.kind, cat("no candidate can be used: ", all));
  }
  for (const auto& candidate : set->candidates)
    if (candidate->context) candidate->use = Use::answers;
  return set;
}

}  // namespace tenfold::low_latency
