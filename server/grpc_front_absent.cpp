// In place of grpc_front.cpp where its packages are absent (server/grpc/CMakeLists.txt).
#include "grpc_front.h"

namespace tenfold::server {

bool has_grpc() { return false; }

std::unique_ptr<GrpcFront> open_grpc(std::shared_ptr<Models>, const GrpcOptions&) { return nullptr; }

}  // namespace tenfold::server
