// Memory of one's own on devices, and streams of GPUs, from C.
#include "tenfold/c/device_array.h"

#include "c/run/common.h"
#include "tenfold/device_array.h"
#include "tenfold/device_stream.h"
#include "tenfold/dlpack.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_device_array {
  DeviceArray array;
};
struct tenfold_device_stream {
  DeviceStream stream;
};

namespace {

const DeviceArray& its(const tenfold_device_array* array) { return need(array, "the array").array; }

template <class Managed>
tenfold_status give_dlpack(const tenfold_device_array* array, Managed** tensor, Managed* (*make)(const DeviceArray&)) {
  return guarded([&] { need(tensor, "the place for the DLPack tensor") = make(its(array)); });
}

}  // namespace

extern "C" tenfold_status tenfold_device_array_create(const tenfold_runtime* runtime, const char* device, const char* dtype,
                                                      const int64_t* shape, int32_t rank, tenfold_device_array** array) {
  return guarded([&] {
    const std::string where = &need(device, "the device");
    place(array, "the place for the array", [&] {
      return new tenfold_device_array{DeviceArray(where, dtype_of(dtype), shape_of(shape, rank), runtime_of(runtime))};
    });
  });
}
extern "C" void tenfold_device_array_free(tenfold_device_array* array) { delete array; }
extern "C" tenfold_status tenfold_device_array_get_info(const tenfold_device_array* array, tenfold_device_array_info* info) {
  return guarded([&] {
    const DeviceArray& a = its(array);
    give(info,
         {0, a.device().c_str(), name(a.dtype()).data(), a.shape().data(), static_cast<std::int32_t>(a.shape().size()),
          static_cast<std::size_t>(a.bytes()), a.memory()},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_device_array_copy_from(tenfold_device_array* array, const void* memory, size_t bytes, void* stream) {
  return guarded([&] { need(array, "the array").array.copy_from(memory, static_cast<std::int64_t>(bytes), stream); });
}
extern "C" tenfold_status tenfold_device_array_copy_to(const tenfold_device_array* array, void* memory, size_t bytes, void* stream) {
  return guarded([&] { its(array).copy_to(memory, static_cast<std::int64_t>(bytes), stream); });
}
extern "C" tenfold_status tenfold_device_array_to_dlpack(const tenfold_device_array* array, DLManagedTensorVersioned** tensor) {
  return give_dlpack<DLManagedTensorVersioned>(array, tensor, to_dlpack);
}
extern "C" tenfold_status tenfold_device_array_to_dlpack_unversioned(const tenfold_device_array* array, DLManagedTensor** tensor) {
  return give_dlpack<DLManagedTensor>(array, tensor, to_dlpack_unversioned);
}

extern "C" tenfold_status tenfold_engine_device(const tenfold_engine* engine, const char** device) {
  return guarded([&] {
    thread_local std::string reported;
    const char*& to = need(device, "the place for the device");
    reported = device_of(need(engine, "the engine").engine);
    to = reported.c_str();
  });
}

extern "C" tenfold_status tenfold_device_stream_create(const tenfold_runtime* runtime, const char* device, tenfold_device_stream** stream) {
  return guarded([&] {
    const std::string where = &need(device, "the device");
    place(stream, "the place for the stream", [&] { return new tenfold_device_stream{DeviceStream(where, runtime_of(runtime))}; });
  });
}
extern "C" void tenfold_device_stream_free(tenfold_device_stream* stream) { delete stream; }
extern "C" void* tenfold_device_stream_handle(const tenfold_device_stream* stream) { return stream ? stream->stream.handle() : nullptr; }
extern "C" tenfold_status tenfold_device_stream_synchronize(const tenfold_runtime* runtime, const char* device, void* stream) {
  return guarded([&] { synchronize_stream(&need(device, "the device"), stream, runtime_of(runtime)); });
}
