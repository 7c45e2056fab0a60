// Looks up what old servers do not have.
#include "newer_api.h"

#include <dlfcn.h>

#include "errors.h"

namespace tenfold::triton {
namespace {

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

NewerApi look_up_all() {
  NewerApi api;
  look_up(api.request_is_cancelled, "TRITONBACKEND_RequestIsCancelled");
  look_up(api.report_memory, "TRITONBACKEND_ModelInstanceReportMemoryUsage");
  look_up(api.attributes_new, "TRITONSERVER_BufferAttributesNew");
  look_up(api.attributes_set_type, "TRITONSERVER_BufferAttributesSetMemoryType");
  look_up(api.attributes_set_id, "TRITONSERVER_BufferAttributesSetMemoryTypeId");
  look_up(api.attributes_set_bytes, "TRITONSERVER_BufferAttributesSetByteSize");
  look_up(api.attributes_delete, "TRITONSERVER_BufferAttributesDelete");
  return api;
}

}  // namespace

const NewerApi& newer_api() {
  static const NewerApi api = look_up_all();
  return api;
}

void report_memory(TRITONBACKEND_ModelInstance* instance, bool on_gpu, std::int64_t device, std::int64_t bytes) {
  const NewerApi& api = newer_api();
  if (!api.report_memory || !api.attributes_new || !api.attributes_set_type || !api.attributes_set_id ||
      !api.attributes_set_bytes || !api.attributes_delete)
    return;
  TRITONSERVER_BufferAttributes* usage = nullptr;
  if (failed(api.attributes_new(&usage))) return;
  if (!failed(api.attributes_set_type(usage, on_gpu ? kTritonGpu : kTritonCpu)) &&
      !failed(api.attributes_set_id(usage, on_gpu ? device : 0)) &&
      !failed(api.attributes_set_bytes(usage, static_cast<std::size_t>(bytes))))
    failed(api.report_memory(instance, &usage, 1));
  failed(api.attributes_delete(usage));
}

}  // namespace tenfold::triton
