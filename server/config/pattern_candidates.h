// The engines of --pattern-engine, from flags.
#pragma once

#include <memory>

#include "core/pattern_engine.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

// Null: there is no such flag.
std::shared_ptr<PatternEngine> pattern_engine(const cli::ServeOptions& options);

}  // namespace tenfold::server
