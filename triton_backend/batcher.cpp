// Triton's interface for batching strategies, by which its batcher asks whether a request joins a batch.
//
// Triton looks for the functions in batchstrategy.so, in the folders of the version, the model and the backend; in the
// last that is a link to this library. A batch is announced anew each time the batcher takes requests out of its queue,
// also for one that waits for an instance and has requests already. The address where Triton keeps what is made for a
// batch tells them apart: it is the batch's own.
#include <unordered_map>

#include "errors.h"
#include "model_state.h"
#include "triton_request.h"

using namespace tenfold;
using namespace tenfold::triton;

struct TRITONBACKEND_Batcher {
  const ModelState* model = nullptr;
  // Of the batch that is being formed. The batcher is one thread.
  void** batch = nullptr;
  std::unordered_map<const TRITONBACKEND_Request*, std::int64_t> tokens;   // of its requests: some are asked about again
  std::int64_t sum = 0;
  bool asked = false;                                                      // since it was announced
};

extern "C" {

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model) {
  return guarded([&] {
    ModelState* state = state_of<ModelState>(model, TRITONBACKEND_ModelState);
    *batcher = state && state->batch_tokens ? new TRITONBACKEND_Batcher{.model = state} : nullptr;
    if (state) state->has_batcher = true;
  });
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher* batcher) {
  delete batcher;
  return nullptr;
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher* of_model, void** batch) {
  auto* batcher = const_cast<TRITONBACKEND_Batcher*>(of_model);   // which Triton only keeps
  *batch = batcher;
  if (!batcher) return nullptr;
  if (batcher->batch != batch) batcher->tokens.clear(), batcher->sum = 0;
  batcher->batch = batch, batcher->asked = false;
  return nullptr;
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* batch) {
  auto* batcher = static_cast<TRITONBACKEND_Batcher*>(batch);
  // A new batch is announced twice, and at the address of an old one if that has run.
  if (batcher && !batcher->asked) batcher->batch = nullptr;
  return nullptr;
}

TENFOLD_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request* request, void* batch, bool* joins) {
  *joins = true;
  auto* batcher = static_cast<TRITONBACKEND_Batcher*>(batch);
  if (!batcher) return nullptr;
  return guarded([&] {
    batcher->asked = true;
    if (batcher->tokens.contains(request)) return;
    const ModelState& model = *batcher->model;
    const TritonRequest read(request, model.served->bindings(), "");
    const std::int64_t tokens = read.refused() ? 0 : model.batch_tokens->of(read.inputs());
    *joins = model.batch_tokens->joins(batcher->sum, tokens);
    if (*joins) batcher->tokens[request] = tokens, batcher->sum += tokens;
  });
}

}  // extern "C"
