// A build in another process.
#pragma once

#include <string>

#include "background/build_request.h"
#include "tenfold/engine.h"

namespace tenfold::background {

// Starts `program` for the request, waits, and loads the plan that it made; nothing of it lies in a folder. `model`:
// the bytes, where the request names no file. Ends the process where this thread is interrupted
// (tenfold/internal/interrupts.h). Throws the error that the process told, or io where it ended without one. What it
// logs comes as info.
Engine build_in_process(const std::string& program, BuildRequest request, std::span<const std::byte> model,
                        const LoadOptions& load);

}  // namespace tenfold::background
