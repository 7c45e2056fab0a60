// Model control as Triton's extension has it: /v2/repository/index, /v2/repository/models/NAME/load and unload.
#pragma once

#include "core/models.h"
#include "routes/router.h"

namespace tenfold::server {

void add_repository_routes(Router& router, std::shared_ptr<Models> models);

}  // namespace tenfold::server
