/* ONNX files with Q/DQ, or with weights of few bits, made from plain ones (tenfold-builder). tenfold/quantize_file.h
 * explains the fields. */
#ifndef TENFOLD_C_QUANTIZE_FILE_H
#define TENFOLD_C_QUANTIZE_FILE_H

#include "tenfold/c/build.h"
#include "tenfold/c/status.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENFOLD_QUANTIZE_FOR_ANY = 0, TENFOLD_QUANTIZE_FOR_ONNXRUNTIME, TENFOLD_QUANTIZE_FOR_OPENVINO };
enum {
  TENFOLD_QUANTIZE_INT8 = 0, TENFOLD_QUANTIZE_FP8, TENFOLD_QUANTIZE_INT4, TENFOLD_QUANTIZE_NBITS4, TENFOLD_QUANTIZE_NBITS8
};
/* A field of 0 or null means the default. */
typedef struct {
  size_t struct_size;
  int32_t reader;              /* TENFOLD_QUANTIZE_FOR_* */
  int32_t type;                /* TENFOLD_QUANTIZE_* */
  int64_t group;
  int32_t reduce_range, external_data;
  const char* const* exclude;  /* names of nodes, with one '*' at most */
  int32_t exclude_count;
  int32_t reserved;            /* 0 */
} tenfold_quantize_options;

/* What was done. Text lives as long as it. */
typedef struct tenfold_quantize_report tenfold_quantize_report;

/* Writes `output`. Of `config`, which may be null for weights alone, what quantize_file() takes; its `report`, if any, gets
 * the calibration (tenfold_report_calibration, ..._output_error) and the search within a budget. `options` and `report` may
 * be null; a report is the caller's to free. */
TENFOLD_API tenfold_status tenfold_quantize_file(const char* model, const char* output, const tenfold_build_config* config,
                                                 const tenfold_quantize_options* options, tenfold_quantize_report** report);
TENFOLD_API void tenfold_quantize_report_free(tenfold_quantize_report* report);

typedef struct {
  size_t struct_size;
  int32_t layers, quantized;
  int32_t left;                /* reasons for which layers stay in floats */
  int32_t opset_before, opset_after;
  int32_t reserved;            /* 0 */
  int64_t bytes_before, bytes_after;
} tenfold_quantize_info;
TENFOLD_API tenfold_status tenfold_quantize_report_info(const tenfold_quantize_report* report, tenfold_quantize_info* info);
/* The reason of that index, and how many nodes it keeps in floats; then the name of one of them. */
TENFOLD_API tenfold_status tenfold_quantize_report_left(const tenfold_quantize_report* report, int32_t index, const char** why,
                                                        int32_t* nodes);
TENFOLD_API tenfold_status tenfold_quantize_report_left_node(const tenfold_quantize_report* report, int32_t index, int32_t node,
                                                             const char** name);

#ifdef __cplusplus
}
#endif
#endif
