// The functions that Triton looks up in the library, in the order of their calls.
#include "errors.h"
#include "model_state.h"
#include "triton_request.h"

using namespace tenfold;
using namespace tenfold::triton;

extern "C" {

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return guarded([&] { must(TRITONBACKEND_BackendSetState(backend, make_backend_state(backend).release())); });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return guarded([&] {
    delete state_of<BackendState>(backend, TRITONBACKEND_BackendState);
    end_background_builds();
  });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return guarded([&] { must(TRITONBACKEND_ModelSetState(model, make_model_state(model).release())); });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return guarded([&] { delete state_of<ModelState>(model, TRITONBACKEND_ModelState); });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] { must(TRITONBACKEND_ModelInstanceSetState(instance, make_instance_state(instance).release())); });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] { delete state_of<InstanceState>(instance, TRITONBACKEND_ModelInstanceState); });
}

// An instance can answer from its initialization on. A GPU that fails later is told by the requests' errors.
TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance*) { return nullptr; }

// Each request is answered and given back, so that this returns no error of theirs.
TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                                  TRITONBACKEND_Request** requests, const std::uint32_t count) {
  const std::uint64_t start = nanoseconds(std::chrono::steady_clock::now());
  InstanceState& state = *state_of<InstanceState>(instance, TRITONBACKEND_ModelInstanceState);
  const std::span<const BindingInfo> bindings = state.served->bindings();
  std::vector<std::unique_ptr<TritonRequest>> all;
  std::vector<ServedRequest*> sound;
  std::vector<BatchRun> runs;
  try {
    all.reserve(count), sound.reserve(count), runs.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(std::make_unique<TritonRequest>(requests[i], bindings, state.host_policy));
  } catch (const std::bad_alloc&) {
    return TRITONSERVER_ErrorNew(kTritonUnavailable, "out of memory");   // the requests stay Triton's
  }
  for (const auto& request : all)
    if (request->refused()) request->finish({&*request->refused(), nullptr});
    else sound.push_back(request.get());
  if (!state.batch_tokens) state.instance->run(sound, &runs);
  else for (const auto& batch : state.batch_tokens->divide(sound)) state.instance->run(batch, &runs);
  for (const auto& request : all) request->release(instance, start);
  for (const BatchRun& run : runs)
    failed(TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, static_cast<std::uint64_t>(run.rows), nanoseconds(run.start),
                                                            nanoseconds(run.compute_start), nanoseconds(run.compute_end),
                                                            nanoseconds(run.end)));
  return nullptr;
}

}  // extern "C"
