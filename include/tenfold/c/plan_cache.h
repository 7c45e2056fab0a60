/* A folder of plans, found again by what they were made from. */
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

/* folder null: $XDG_CACHE_HOME/tenfold/plans, else ~/.cache/tenfold/plans. most_bytes 0: the default (16 GiB); below 0: no limit. */
TENFOLD_API tenfold_status tenfold_plan_cache_create(const char* folder, int64_t most_bytes, tenfold_plan_cache** cache);
TENFOLD_API void tenfold_plan_cache_free(tenfold_plan_cache* cache);
TENFOLD_API const char* tenfold_plan_cache_folder(const tenfold_plan_cache* cache);
/* tenfold-builder: one whose entries are loaded by tenfold_load_compatible(). */
TENFOLD_API tenfold_status tenfold_plan_cache_create_compatible(const char* folder, int64_t most_bytes, tenfold_plan_cache** cache);
/* The file of an entry. The text lives until this thread's next call. */
TENFOLD_API tenfold_status tenfold_plan_cache_path(const tenfold_plan_cache* cache, const char* key, const char* name, const char** path);
/* name (or null): the entry's file name. No entry: TENFOLD_OK and a null engine; tenfold_last_error() then says why. */
TENFOLD_API tenfold_status tenfold_plan_cache_find(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                   const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_plan_cache_store(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                    const tenfold_engine* engine);
TENFOLD_API tenfold_status tenfold_plan_cache_clear(const tenfold_plan_cache* cache, int32_t* removed);
/* tenfold-builder: the key of a model for a configuration. The text lives until this thread's next call. */
TENFOLD_API tenfold_status tenfold_plan_key(const char* onnx_path, const tenfold_build_config* config, const char** key);
/* tenfold-builder: tenfold_build_file(), unless the cache has the plan. `cached` may be null. */
TENFOLD_API tenfold_status tenfold_plan_cache_build_file(const tenfold_plan_cache* cache, const char* onnx_path,
                                                         const tenfold_build_config* config, const char* name,
                                                         tenfold_engine** engine, int32_t* cached);
/* tenfold-builder: the same of a model in memory, whose bytes are read until this returns; a file of the same bytes has the same plan. */
TENFOLD_API tenfold_status tenfold_plan_cache_build_bytes(const tenfold_plan_cache* cache, const void* onnx, size_t bytes,
                                                          const tenfold_build_config* config, const char* name,
                                                          tenfold_engine** engine, int32_t* cached);

#ifdef __cplusplus
}
#endif
#endif
