// Functions of Triton's API newer than 1.10, looked up when the library is loaded. Where the server lacks one, its work is left out.
#pragma once

#include "triton_api.h"

extern "C" struct TRITONSERVER_BufferAttributes;

namespace tenfold::triton {

struct NewerApi {
  TRITONSERVER_Error* (*request_is_cancelled)(TRITONBACKEND_Request*, bool*) = nullptr;                        // 1.15
  TRITONSERVER_Error* (*report_memory)(TRITONBACKEND_ModelInstance*, TRITONSERVER_BufferAttributes**, std::uint32_t) = nullptr;
  TRITONSERVER_Error* (*attributes_new)(TRITONSERVER_BufferAttributes**) = nullptr;
  TRITONSERVER_Error* (*attributes_set_type)(TRITONSERVER_BufferAttributes*, TRITONSERVER_MemoryType) = nullptr;
  TRITONSERVER_Error* (*attributes_set_id)(TRITONSERVER_BufferAttributes*, std::int64_t) = nullptr;
  TRITONSERVER_Error* (*attributes_set_bytes)(TRITONSERVER_BufferAttributes*, std::size_t) = nullptr;
  TRITONSERVER_Error* (*attributes_delete)(TRITONSERVER_BufferAttributes*) = nullptr;
};
const NewerApi& newer_api();

// Tells Triton how much memory an instance holds, so that its metrics and rate limits know. Nothing where it cannot be told.
void report_memory(TRITONBACKEND_ModelInstance* instance, bool on_gpu, std::int64_t device, std::int64_t bytes);

}  // namespace tenfold::triton
