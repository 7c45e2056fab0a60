// A build in another process.
#pragma once

#include <string>

#include "background/build_request.h"
#include "tenfold/engine.h"
#include "tenfold/model_engines.h"

namespace tenfold::background {

// Starts `program` for the request, waits, and loads the plan that it made; nothing of it lies in a folder. `model`:
// the bytes, where the request names no file. Ends the process where this thread is interrupted
// (tenfold/internal/interrupts.h). Throws the error that the process told, or io where it ended without one. What it
// logs goes to the log of `load`, as info. `caller`: who waits for the build, and hears of it as of one in this process.
Engine build_in_process(const std::string& program, BuildRequest request, std::span<const std::byte> model,
                        const LoadOptions& load, const BuildWatch* caller = nullptr);

}  // namespace tenfold::background
