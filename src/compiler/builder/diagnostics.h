// What a build has to tell of its result: kept as data beside the caller's log.
#pragma once

#include <memory>

#include "tenfold/build.h"

namespace tenfold::builder {

// Copies share what they collect.
class Diagnostics {
 public:
  Diagnostics();
  // The same configuration with a log that keeps its warnings here.
  BuildConfig listening(const BuildConfig& config) const;
  std::vector<Note> all() const;

 private:
  struct Pages;
  std::shared_ptr<Pages> pages_;
};

// Keeps a note in the report, once, and tells it to the log.
void add_note(Note note, const BuildConfig& config, BuildReport& report);
// Notes of BuildConfig::forced_tactics that had no effect: no problem begins so, or none that does can be computed by that tactic.
void report_forced(const BuildConfig& config, BuildReport& report);
// Puts what the log heard and the notes of `report` before those of the opened plan, and adds to these why each kernel was refused, as far
// as `report` says.
void hand_over(const Diagnostics& book, const BuildReport& report, Engine& engine);

}  // namespace tenfold::builder
