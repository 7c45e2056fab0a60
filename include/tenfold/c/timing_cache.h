/* The times of tactics, as an object that several builds may share (tenfold-builder). tenfold/timing_cache.h says
 * more. */
#ifndef TENFOLD_C_TIMING_CACHE_H
#define TENFOLD_C_TIMING_CACHE_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

TENFOLD_API tenfold_status tenfold_timing_cache_create(tenfold_timing_cache** cache);
TENFOLD_API tenfold_status tenfold_timing_cache_load(const char* path, tenfold_timing_cache** cache);
TENFOLD_API tenfold_status tenfold_timing_cache_parse(const char* text, size_t bytes, tenfold_timing_cache** cache);
TENFOLD_API void tenfold_timing_cache_free(tenfold_timing_cache* cache);
/* Merges with the file, under a lock. The cache then holds the file's times, too. */
TENFOLD_API tenfold_status tenfold_timing_cache_save(tenfold_timing_cache* cache, const char* path);
TENFOLD_API tenfold_status tenfold_timing_cache_merge(tenfold_timing_cache* cache, const tenfold_timing_cache* other);
TENFOLD_API int64_t tenfold_timing_cache_size(const tenfold_timing_cache* cache);
/* Gives the content of a file. The text lives until the next call for this cache. */
TENFOLD_API tenfold_status tenfold_timing_cache_text(tenfold_timing_cache* cache, const char** text, size_t* bytes);
typedef struct {
  size_t struct_size;
  const char* key;                 /* of a problem on a machine: "0x" and 32 hexadecimal digits */
  const char *tactic, *config;     /* the fastest of the key */
  double nanoseconds;
} tenfold_fastest_tactic;
/* Gives the fastest tactic of key 0, 1 ..., in the order of keys. Strings live until the next call for this cache.
 * TENFOLD_INVALID_ARGUMENT after the last. */
TENFOLD_API tenfold_status tenfold_timing_cache_fastest(tenfold_timing_cache* cache, int32_t index, tenfold_fastest_tactic* fastest);

#ifdef __cplusplus
}
#endif
#endif
