// Collecting notes, and handing them to the engine.
#include "builder/diagnostics.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {

struct Diagnostics::Pages {
  std::mutex mutex;
  std::vector<Note> notes;
  void keep(const Note& note) {
    const std::lock_guard lock(mutex);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
};

Diagnostics::Diagnostics() : pages_(std::make_shared<Pages>()) {}

BuildConfig Diagnostics::listening(const BuildConfig& config) const {
  BuildConfig own = config;
  own.log = [pages = pages_, log = config.log](Severity severity, std::string_view text) {
    if (severity >= Severity::warning) pages->keep({severity, NoteKind::message, "", std::string(text)});
    if (log) log(severity, text);
  };
  return own;
}

std::vector<Note> Diagnostics::all() const {
  const std::lock_guard lock(pages_->mutex);
  return pages_->notes;
}

void add_note(Note note, const BuildConfig& config, BuildReport& report) {
  if (std::find(report.notes.begin(), report.notes.end(), note) != report.notes.end()) return;
  if (config.log) config.log(note.severity, note.text);
  report.notes.push_back(std::move(note));
}

void report_forced(const BuildConfig& config, BuildReport& report) {
  for (const auto& [prefix, requested] : config.forced_tactics) {
    int met = 0;
    bool ran = false;
    std::string why;
    for (const StepReport& step : report.steps) {
      if (!step.problem.starts_with(prefix)) continue;
      ++met;
      for (const TacticReport& t : step.tried)
        if (t.tactic == requested) ran |= t.nanoseconds >= 0 || requested == "reference", why = t.verdict.empty() ? why : t.verdict;
    }
    if (ran) continue;
    const std::string what = cat("forced_tactics: '", prefix, "' -> '", requested, "' has no effect: ");
    const std::string reason = met == 0       ? "no problem of this model begins with that (inspect prints the problems)"
                             : why.empty() ? "there is no such tactic for these problems, which run on reference kernels now"
                                           : cat("it cannot compute these problems, which run on reference kernels now: ", why);
    add_note({Severity::warning, NoteKind::message, "", what + reason}, config, report);
  }
}

void hand_over(const Diagnostics& book, const BuildReport& report, Engine& engine) {
  constexpr std::size_t kMaxReasons = 3;
  std::vector<Note>& notes = runtime::state_of(engine)->info.notes;
  for (Note& note : notes) {
    const auto step = std::find_if(report.steps.begin(), report.steps.end(), [&](const StepReport& s) { return s.node == note.step; });
    if (note.kind != NoteKind::reference_kernel || note.step.empty() || step == report.steps.end()) continue;
    std::string reasons;
    std::size_t count = 0;
    for (const TacticReport& t : step->tried)
      if (t.tactic != "reference" && !t.verdict.empty() && count++ < kMaxReasons)
        reasons += cat(reasons.empty() ? "" : "; ", t.tactic, ": ", t.verdict);
    if (count > 0) note.text += cat(" (", reasons, count > kMaxReasons ? "; ..." : "", ")");
  }
  std::vector<Note> built = book.all();
  for (const Note& note : report.notes) {   // the log of a warning was heard, too
    std::erase_if(built, [&](const Note& heard) { return heard.text == note.text; });
    built.push_back(note);
  }
  notes.insert(notes.begin(), built.begin(), built.end());
}

}  // namespace tenfold::builder
