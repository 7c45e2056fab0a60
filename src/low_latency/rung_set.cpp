// Rungs are opened in order, and compared with the last one that opens.
#include "low_latency/rung_set.h"

#include <new>

namespace tenfold::low_latency {
namespace {

void refuse(OpenRung& rung, ErrorKind kind, std::string why, const Log& log) {
  rung.context.reset(), rung.engine.reset();
  rung.use = Use::refused;
  rung.kind = kind, rung.why = std::move(why);
  log(Severity::warning, "the rung '", rung.name, "' is not used: ", rung.why);
}

// Runs `act`; what it throws becomes the rung's refusal.
template <class Act>
void attempt(OpenRung& rung, const Log& log, const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;   // who asked to stop does not want the next
    refuse(rung, error.kind(), error.what(), log);
  } catch (const std::bad_alloc&) {
    refuse(rung, ErrorKind::out_of_memory, "out of memory", log);
  }
}

void open(OpenRung& rung, const Rung& way, RungSet& set, const Log& log) {
  attempt(rung, log, [&] {
    Engine engine = way.open();
    Layout layout = layout_of(engine);
    if (!set.slot) {
      set.slot.emplace(std::move(engine));
      rung.engine = set.slot->get();
      set.layout = std::move(layout);
    } else {
      const std::string other = difference(layout, set.layout);
      require(other.empty(), ErrorKind::plan_refused, "its inputs and outputs are not those of the rung before it: ", other);
      rung.engine = std::move(engine);
    }
    rung.context = std::make_unique<ReadyContext>(*rung.engine, set.layout);
  });
}

// Its answer to the sample, after all runs that warm it.
void warm(OpenRung& rung, const RungSet& set, int runs, std::vector<std::byte>& output, const Log& log) {
  if (!rung.context) return;
  attempt(rung, log, [&] {
    output.resize(static_cast<std::size_t>(set.layout.output_bytes));
    for (int i = 0; i < std::max(runs, 1); ++i)
      if (const Status status = rung.context->run(set.sample_input.data(), output.data(), nullptr); !status)
        fail(ErrorKind::device, cat("a run to warm it failed: ", rung.context->describe(status)));
  });
}

void compare(RungSet& set, const std::vector<std::vector<std::byte>>& outputs, std::size_t truth, double tolerance, const Log& log) {
  for (std::size_t i = 0; i < truth; ++i) {
    OpenRung& rung = *set.rungs[i];
    if (!rung.context) continue;
    rung.difference = distance(set.layout, outputs[i].data(), outputs[truth].data());
    if (!(rung.difference <= tolerance))
      refuse(rung, ErrorKind::plan_refused,
             cat("its outputs differ from those of '", set.rungs[truth]->name, "' by ", rung.difference,
                 " of the largest, and ", tolerance, " is allowed: was the plan made from another model?"), log);
  }
}

}  // namespace

std::shared_ptr<RungSet> open_rungs(const std::vector<Rung>& rungs, const RunnerOptions& options, const Log& log) {
  require(!rungs.empty(), ErrorKind::invalid_argument, "a Runner needs a rung");
  auto set = std::make_shared<RungSet>();
  for (const Rung& way : rungs) {
    require(way.open != nullptr, ErrorKind::invalid_argument, "the rung '", way.name, "' opens nothing");
    OpenRung& rung = *set->rungs.emplace_back(std::make_unique<OpenRung>());
    rung.name = way.name;
    open(rung, way, *set, log);
  }
  std::vector<std::vector<std::byte>> outputs(rungs.size());
  if (set->slot) set->sample_input = random_inputs(set->layout, 1);
  for (std::size_t i = 0; i < rungs.size(); ++i) warm(*set->rungs[i], *set, options.warm_up_runs, outputs[i], log);
  std::size_t truth = rungs.size();
  for (std::size_t i = 0; i < rungs.size(); ++i)
    if (set->rungs[i]->context) truth = i;
  if (truth < rungs.size()) {
    if (options.tolerance >= 0) compare(*set, outputs, truth, options.tolerance, log);
    set->sample_output = std::move(outputs[truth]);
    set->unread_output = set->sample_output;
  }
  const OpenRung& first = *set->rungs.front();
  if (options.strict && !first.context)
    fail(first.kind, cat("the rung '", first.name, "' cannot be used, and no other may answer (strict): ", first.why));
  if (truth == rungs.size()) {
    std::string all;
    for (const auto& rung : set->rungs) all += cat(all.empty() ? "" : "; ", rung->name, ": ", rung->why);
    fail(first.kind, cat("no rung can be used: ", all));
  }
  for (const auto& rung : set->rungs)
    if (rung->context) rung->use = Use::answers;
  return set;
}

}  // namespace tenfold::low_latency
