// The routes of --pattern-engine: POST /infer, GET /model/status and /ready.
#pragma once

#include "core/pattern_engine.h"
#include "routes/router.h"

namespace tenfold::server {

void add_pattern_routes(Router& router, const std::shared_ptr<PatternEngine>& engine);

}  // namespace tenfold::server
