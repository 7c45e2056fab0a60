/* A folder of plans, which are found again by what they were made from. tenfold/plan_cache.h says more. */
#ifndef TENFOLD_C_PLAN_CACHE_H
#define TENFOLD_C_PLAN_CACHE_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"
#include "tenfold/c/build.h"
#include "tenfold/c/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A null `folder` is $XDG_CACHE_HOME/tenfold/plans, else ~/.cache/tenfold/plans. `max_bytes` of 0 is the default (16
 * GiB); below 0 there is no limit. */
TENFOLD_API tenfold_status tenfold_plan_cache_create(const char* folder, int64_t max_bytes, tenfold_plan_cache** cache);
TENFOLD_API void tenfold_plan_cache_free(tenfold_plan_cache* cache);
TENFOLD_API const char* tenfold_plan_cache_folder(const tenfold_plan_cache* cache);
/* The same, but entries are loaded by tenfold_load_compatible(). It is in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_plan_cache_create_compatible(const char* folder, int64_t max_bytes, tenfold_plan_cache** cache);
/* Gives the path of an entry's file. The text lives until this thread's next call. */
TENFOLD_API tenfold_status tenfold_plan_cache_path(const tenfold_plan_cache* cache, const char* key, const char* name, const char** path);
/* `name` (may be null) is the file name of the entry. If there is no entry, the result is TENFOLD_OK and a null engine,
 * and tenfold_last_error() says why. */
TENFOLD_API tenfold_status tenfold_plan_cache_find(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                   const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_plan_cache_store(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                    const tenfold_engine* engine);
/* Removes all entries. `removed` gets how many. */
TENFOLD_API tenfold_status tenfold_plan_cache_clear(const tenfold_plan_cache* cache, int32_t* removed);
/* How many plans are kept, and their bytes in all. Either place may be NULL. */
TENFOLD_API tenfold_status tenfold_plan_cache_sizes(const tenfold_plan_cache* cache, int32_t* plans, int64_t* bytes);
/* Removes those used longest ago until the others take at most `max_bytes`. `removed` may be NULL. */
TENFOLD_API tenfold_status tenfold_plan_cache_trim(const tenfold_plan_cache* cache, int64_t max_bytes, int32_t* removed);
/* Gives the key of a model for a configuration. The text lives until this thread's next call. It is in
 * tenfold-builder. */
TENFOLD_API tenfold_status tenfold_plan_key(const char* onnx_path, const tenfold_build_config* config, const char** key);
/* Takes the plan from the cache, or calls tenfold_build_file() and stores it. `cached` (may be null) tells whether the
 * cache had it. It is in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_plan_cache_build_file(const tenfold_plan_cache* cache, const char* onnx_path,
                                                         const tenfold_build_config* config, const char* name,
                                                         tenfold_engine** engine, int32_t* cached);
/* The same for a model in memory, whose bytes are read until this returns. A file of the same bytes has the same plan.
 * It is in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_plan_cache_build_bytes(const tenfold_plan_cache* cache, const void* onnx, size_t bytes,
                                                          const tenfold_build_config* config, const char* name,
                                                          tenfold_engine** engine, int32_t* cached);

#ifdef __cplusplus
}
#endif
#endif
