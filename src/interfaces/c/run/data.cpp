// Data from C: their kinds, and tensors of numbers.
#include "c/run/common.h"
#include "tenfold/c/data.h"
#include "tenfold/dlpack.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_data_tensor(const char* dtype, const int64_t* shape, int32_t rank, const void* data, size_t bytes,
                                              tenfold_data** made) {
  return guarded([&] {
    need(made, "the place for the data");
    if (data || bytes) {
      *made = new tenfold_data{tensor_of(dtype, shape, rank, data, bytes, "a tensor")};
      return;
    }
    const DType type = dtype_of(dtype);
    require(type != DType::string, ErrorKind::unsupported, "a tensor of strings: tenfold_data_strings() makes one");
    *made = new tenfold_data{Tensor(type, shape_of(shape, rank))};
  });
}
extern "C" int32_t tenfold_data_kind(const tenfold_data* data) { 
  return !data ? 0 : data->value.empty() ? TENFOLD_DATA_NOTHING : static_cast<int32_t>(data->value.index());
}
extern "C" tenfold_status tenfold_data_tensor_info(const tenfold_data* data, tenfold_tensor_info* info) {
  return guarded([&] {
    const Tensor& t = need(data, "the data").value.tensor();
    give(info,
         {0, name(t.dtype()).data(), t.shape().data(), static_cast<std::int32_t>(t.rank()), t.raw(), static_cast<std::size_t>(t.bytes())},
         "the place for the information");
  });
}
extern "C" void tenfold_data_free(tenfold_data* data) { delete data; }

namespace {

template <class Managed>
tenfold_status give_dlpack(const tenfold_data* data, Managed** tensor, Managed* (*make)(const Tensor&)) {
  return guarded([&] {
    const Tensor& own = need(data, "the data").value.tensor();
    need(tensor, "the place for the DLPack tensor") = make(own);
  });
}
template <class Managed>
tenfold_status take_dlpack(Managed* tensor, tenfold_data** data) {
  return guarded([&] {
    need(data, "the place for the data");
    auto made = std::make_unique<tenfold_data>();
    made->value = from_dlpack(tensor);
    *data = made.release();
  });
}

}  // namespace

extern "C" tenfold_status tenfold_data_to_dlpack(const tenfold_data* data, DLManagedTensorVersioned** tensor) {
  return give_dlpack(data, tensor, to_dlpack);
}
extern "C" tenfold_status tenfold_data_from_dlpack(DLManagedTensorVersioned* tensor, tenfold_data** data) {
  return take_dlpack(tensor, data);
}
extern "C" tenfold_status tenfold_data_to_dlpack_unversioned(const tenfold_data* data, DLManagedTensor** tensor) {
  return give_dlpack(data, tensor, to_dlpack_unversioned);
}
extern "C" tenfold_status tenfold_data_from_dlpack_unversioned(DLManagedTensor* tensor, tenfold_data** data) {
  return take_dlpack(tensor, data);
}
extern "C" int32_t tenfold_dtype_bits(const char* dtype) {
  const auto type = dtype ? dtype_from_name(dtype) : std::nullopt;
  return type ? bits(*type) : 0;
}
