// Clients' shared memory over HTTP: Triton's extensions system_shared_memory and, refused by name, cuda_shared_memory.
#pragma once

#include "core/models.h"
#include "routes/router.h"

namespace tenfold::server {

void add_shared_memory_routes(Router& router, const std::shared_ptr<Models>& models);

}  // namespace tenfold::server
