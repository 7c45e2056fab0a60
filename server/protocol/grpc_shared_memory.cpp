// Clients' shared memory over gRPC. routes/shared_memory_routes.cpp does the same over HTTP.
#include "core/shared_memory.h"
#include "grpc_service.pb.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_tensors.h"
#include "protocol/grpc_unary.h"

namespace tenfold::server::grpc {
namespace {

using namespace inference;  // protobuf's messages

}  // namespace

void add_shared_memory(Services& services, const std::shared_ptr<Models>& models) {
  services[kService + "SystemSharedMemoryStatus"] = throwing_method<SystemSharedMemoryStatusRequest, SystemSharedMemoryStatusResponse>(
      [models](const auto& request, auto& response) {
        for (const auto& region : models->shared_memory()->list(request.name())) {
          auto& row = (*response.mutable_regions())[region->name()];
          row.set_name(region->name());
          row.set_key(region->key());
          row.set_offset(region->offset());
          row.set_byte_size(region->bytes());
        }
      });
  services[kService + "SystemSharedMemoryRegister"] =
      throwing_method<SystemSharedMemoryRegisterRequest, SystemSharedMemoryRegisterResponse>([models](const auto& request, auto&) {
        models->shared_memory()->add(request.name(), request.key(), request.offset(), request.byte_size());
      });
  services[kService + "SystemSharedMemoryUnregister"] =
      throwing_method<SystemSharedMemoryUnregisterRequest, SystemSharedMemoryUnregisterResponse>(
          [models](const auto& request, auto&) { models->shared_memory()->remove(request.name()); });
  // Clients list and unregister all memory before they begin, of GPUs, too.
  services[kService + "CudaSharedMemoryStatus"] =
      throwing_method<CudaSharedMemoryStatusRequest, CudaSharedMemoryStatusResponse>([](const auto&, auto&) {});
  services[kService + "CudaSharedMemoryUnregister"] =
      throwing_method<CudaSharedMemoryUnregisterRequest, CudaSharedMemoryUnregisterResponse>([](const auto&, auto&) {});
  services[kService + "CudaSharedMemoryRegister"] =
      throwing_method<CudaSharedMemoryRegisterRequest, CudaSharedMemoryRegisterResponse>([](const auto&, auto&) {
        throw RequestError(Code::unsupported, std::string(kNoCudaSharedMemory));
      });
}

}  // namespace tenfold::server::grpc
