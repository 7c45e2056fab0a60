// What an opened plan has to tell its user.
#pragma once

#include <span>

#include "backends/clock.h"
#include "runtime/engine/engine_access.h"

namespace tenfold::runtime {

// Adds a note for each step that runs on a reference kernel.
void note_reference_steps(EngineState& engine);
// Adds a note where a clock is not what it was when the plan's kernels were timed: apart by more than a tenth of that.
void note_clocks(EngineState& engine, std::span<const backends::Clock> now);
// Tells a callback what the notes of a load say: those on reference kernels in one line.
void log_notes(std::span<const Note> notes, const LogCallback& log);

}  // namespace tenfold::runtime
