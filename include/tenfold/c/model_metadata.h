/* What an ONNX file says about itself beside its graph (tenfold-builder). */
#ifndef TENFOLD_C_MODEL_METADATA_H
#define TENFOLD_C_MODEL_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "tenfold/c/status.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_metadata tenfold_metadata;
TENFOLD_API tenfold_status tenfold_metadata_read(const char* onnx_path, tenfold_metadata** metadata);
TENFOLD_API tenfold_status tenfold_metadata_read_bytes(const void* onnx, size_t bytes, tenfold_metadata** metadata);
TENFOLD_API void tenfold_metadata_free(tenfold_metadata* metadata);
typedef struct {
  size_t struct_size;
  const char *producer_name, *producer_version, *domain, *description; /* "" where the file has none */
  const char *graph_name, *graph_description;
  int64_t version; /* version of the model, if has_version is 1 */
  int32_t has_version, properties;
} tenfold_metadata_info;
TENFOLD_API tenfold_status tenfold_metadata_get(const tenfold_metadata* metadata, tenfold_metadata_info* info);
/* Gives key and value of a property, in the order of keys. */
TENFOLD_API tenfold_status tenfold_metadata_property(const tenfold_metadata* metadata, int32_t index, const char** key,
                                                     const char** value);

#ifdef __cplusplus
}
#endif

#endif
