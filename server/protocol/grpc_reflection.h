// Server reflection, v1 and v1alpha: which services there are, and the .proto file of a symbol.
#pragma once

#include "grpc/call.h"

namespace tenfold::server::grpc {

// Adds it to the services, whose names it lists. Services that are added later are not listed.
void add_reflection(Services& services);

}  // namespace tenfold::server::grpc
