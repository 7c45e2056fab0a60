// Data from C: tensors of numbers.
#include "api_run/c_common.h"
#include "tenfold/c/data.h"

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
    require(type != DType::string, ErrorKind::unsupported, "a tensor of strings");
    *made = new tenfold_data{Tensor(type, shape_of(shape, rank))};
  });
}
extern "C" int32_t tenfold_data_kind(const tenfold_data* data) { return data ? TENFOLD_DATA_TENSOR : 0; }
extern "C" tenfold_status tenfold_data_tensor_info(const tenfold_data* data, tenfold_tensor_info* info) {
  return guarded([&] {
    const Tensor& t = need(data, "the data").tensor;
    give(info,
         {0, name(t.dtype()).data(), t.shape().data(), static_cast<std::int32_t>(t.rank()), t.raw(), static_cast<std::size_t>(t.bytes())},
         "the place for the information");
  });
}
extern "C" void tenfold_data_free(tenfold_data* data) { delete data; }
