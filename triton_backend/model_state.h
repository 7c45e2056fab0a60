// What Triton's handles carry for this backend: the backend's own state, a model's, an instance's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batch_tokens.h"
#include "parameters.h"
#include "tenfold/runtime.h"
#include "tenfold/serving/served_model.h"
#include "triton_api.h"

namespace tenfold::triton {

struct BackendState {
  std::shared_ptr<Runtime> runtime;              // of all models: they share processors, and weights that are equal
  std::optional<PlanCache> cache;
  std::int64_t default_max_batch = 0;
};
std::unique_ptr<BackendState> make_backend_state(TRITONBACKEND_Backend* backend);

struct ModelState {
  std::shared_ptr<ServedModel> served;
  std::shared_ptr<const BatchTokens> batch_tokens;   // null: batches have no limit of tokens
  bool has_batcher = false;                          // Triton asks batcher.cpp; set before instances are made
  Parameters parameters;
  std::string name;
};
// Completes the configuration if Triton asks for that, and opens the model by it. Throws Error.
std::unique_ptr<ModelState> make_model_state(TRITONBACKEND_Model* model);

struct InstanceState {
  std::unique_ptr<ServedInstance> instance;
  std::shared_ptr<ServedModel> served;
  std::shared_ptr<const BatchTokens> batch_tokens;
  std::string host_policy;                       // by which Triton places inputs
};
std::unique_ptr<InstanceState> make_instance_state(TRITONBACKEND_ModelInstance* instance);

std::string text_of(TRITONSERVER_Message* message);   // its JSON
// What a handle carries; null where its initialization failed.
template <class State, class Handle>
State* state_of(Handle* handle, TRITONSERVER_Error* (*get)(Handle*, void**)) noexcept {
  void* state = nullptr;
  if (TRITONSERVER_Error* error = get(handle, &state)) TRITONSERVER_ErrorDelete(error);
  return static_cast<State*>(state);
}

}  // namespace tenfold::triton
