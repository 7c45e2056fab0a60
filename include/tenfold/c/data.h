/* Data: values of any kind in the memory of the host. Here are tensors of numbers; values.h has the other kinds. */
#ifndef TENFOLD_C_DATA_H
#define TENFOLD_C_DATA_H

#include "tenfold/c/dlpack.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Other kinds may follow, so ask for the kind first. */
enum { TENFOLD_DATA_TENSOR = 1, TENFOLD_DATA_SEQUENCE, TENFOLD_DATA_MAP, TENFOLD_DATA_NOTHING };
typedef struct {
  size_t struct_size;
  const char* dtype;
  const int64_t* shape;
  int32_t rank;
  const void* data;                /* dense, row major */
  size_t bytes;
} tenfold_tensor_info;
/* Makes a tensor from a copy of `bytes` bytes. Null `data` makes zeros. */
TENFOLD_API tenfold_status tenfold_data_tensor(const char* dtype, const int64_t* shape, int32_t rank, const void* data,
                                               size_t bytes, tenfold_data** made);
TENFOLD_API int32_t tenfold_data_kind(const tenfold_data* data);   /* TENFOLD_DATA_*; 0 for null */
/* Gives the content of a tensor. Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_data_tensor_info(const tenfold_data* data, tenfold_tensor_info* info);
TENFOLD_API void tenfold_data_free(tenfold_data* data);

/* The struct shares the bytes, and is marked read-only. The caller calls the deleter. */
TENFOLD_API tenfold_status tenfold_data_to_dlpack(const tenfold_data* data, DLManagedTensorVersioned** tensor);
/* Takes over the struct. Its deleter is called when nothing uses the bytes any more, or at once where they are copied
 * because the strides are not dense. If the status is not TENFOLD_OK, the struct stays the caller's. */
TENFOLD_API tenfold_status tenfold_data_from_dlpack(DLManagedTensorVersioned* tensor, tenfold_data** data);
/* The same with the form before DLPack 1.0. That form cannot say that the bytes are read-only, but they are. */
TENFOLD_API tenfold_status tenfold_data_to_dlpack_unversioned(const tenfold_data* data, DLManagedTensor** tensor);
TENFOLD_API tenfold_status tenfold_data_from_dlpack_unversioned(DLManagedTensor* tensor, tenfold_data** data);
/* The bits of an element of this type ("i4": 4). 0: no type has that name, or it is the type of strings. */
TENFOLD_API int32_t tenfold_dtype_bits(const char* dtype);

#ifdef __cplusplus
}
#endif
#endif
