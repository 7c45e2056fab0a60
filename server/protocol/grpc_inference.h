// inference.GRPCInferenceService: KServe's protocol, version 2, with Triton's extensions.
#pragma once

#include "core/models.h"
#include "grpc/call.h"

namespace tenfold::server::grpc {

inline const std::string kService = "/inference.GRPCInferenceService/";   // in front of its methods

void add_inference(Services& services, std::shared_ptr<Models> models);
// Index, load and unload.
void add_repository(Services& services, const std::shared_ptr<Models>& models);
// The part that tells of models: metadata, configuration, statistics.
void add_metadata(Services& services, const std::shared_ptr<Models>& models);
// TraceSetting and LogSettings.
void add_settings(Services& services, const std::shared_ptr<Models>& models);

// Clients' shared memory: registered, listed, unregistered.
void add_shared_memory(Services& services, const std::shared_ptr<Models>& models);

}  // namespace tenfold::server::grpc
