/* Data that are no tensors of numbers: strings, sequences, maps, nothing; bound to contexts and read from them. */
#ifndef TENFOLD_C_VALUES_H
#define TENFOLD_C_VALUES_H

#include "tenfold/c/data.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strings end in a zero byte; they are copied. */
TENFOLD_API tenfold_status tenfold_data_strings(const char* const* strings, const int64_t* shape, int32_t rank, tenfold_data** made);
/* These share what `elements` and `values` hold, which the caller may free. Keys: a tensor of rank 1, of i64 or strings. */
TENFOLD_API tenfold_status tenfold_data_sequence(const tenfold_data* const* elements, size_t count, tenfold_data** made);
TENFOLD_API tenfold_status tenfold_data_map(const tenfold_data* keys, const tenfold_data* const* values, size_t count,
                                            tenfold_data** made);
TENFOLD_API tenfold_status tenfold_data_nothing(tenfold_data** made);   /* an optional that holds nothing */

/* Element `index` of a tensor of strings, with its length: it may hold zero bytes. It lives as long as the data. */
TENFOLD_API tenfold_status tenfold_data_string(const tenfold_data* data, size_t index, const char** text, size_t* bytes);
TENFOLD_API size_t tenfold_data_count(const tenfold_data* data);   /* elements of a sequence, entries of a map; else 0 */
/* Element of a sequence, value of a map; and a map's keys. Free what is made. */
TENFOLD_API tenfold_status tenfold_data_element(const tenfold_data* data, size_t index, tenfold_data** made);
TENFOLD_API tenfold_status tenfold_data_keys(const tenfold_data* data, tenfold_data** made);

/* Whether the binding takes or gives data that are no tensors of numbers, and no memory. */
TENFOLD_API int32_t tenfold_engine_binds_values(const tenfold_engine* engine, int32_t binding);
/* The input and the axis of the rows of an engine with early steps (tenfold_build_config.newest_row), -1 and -1 of others. */
TENFOLD_API tenfold_status tenfold_engine_window_rows(const tenfold_engine* engine, int32_t* input, int32_t* axis);
/* "seq(map(i64,f32[]))": as much of it as there is room for, ended by a zero byte. `bytes`: room, then its length and the zero. */
TENFOLD_API tenfold_status tenfold_engine_binding_type(const tenfold_engine* engine, int32_t binding, char* text, size_t* bytes);
/* Of an input; it stays bound until another is. Strings set the input's shape, too. */
TENFOLD_API tenfold_status tenfold_context_bind_value(tenfold_context* context, int32_t input, const tenfold_data* data);
/* What the last run gave, or what is bound. Free it. */
TENFOLD_API tenfold_status tenfold_context_bound_value(const tenfold_context* context, int32_t binding, tenfold_data** made);

#ifdef __cplusplus
}
#endif
#endif
