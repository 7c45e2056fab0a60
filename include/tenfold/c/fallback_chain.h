/* A fallback chain: a list of ways to get an engine, the best first. The first that works is taken. tenfold/fallback_chain.h says
 * more. */
#ifndef TENFOLD_C_FALLBACK_CHAIN_H
#define TENFOLD_C_FALLBACK_CHAIN_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"
#include "tenfold/c/build.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/plan_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

TENFOLD_API tenfold_status tenfold_fallback_chain_create(tenfold_fallback_chain** fallback_chain);
TENFOLD_API void tenfold_fallback_chain_free(tenfold_fallback_chain* fallback_chain);
/* Candidates are tried in the order in which they were added. Add all of them before the first is opened. */
TENFOLD_API tenfold_status tenfold_fallback_chain_add_plan(tenfold_fallback_chain* fallback_chain, const char* plan_path,
                                                   const tenfold_load_options* options);
/* The same by tenfold_load_compatible(). It is in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_fallback_chain_add_compatible_plan(tenfold_fallback_chain* fallback_chain, const char* plan_path,
                                                              const tenfold_load_options* options);
/* Adds a model that is built, or taken from the cache. The cache (may be null) must live as long as the fallback chain. It is
 * in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_fallback_chain_add_model(tenfold_fallback_chain* fallback_chain, const char* onnx_path,
                                                    const tenfold_build_config* config, const tenfold_plan_cache* cache);
/* Gives a handle to the engine of the first candidate from here on that opens. `candidate` (may be null) gets its number. */
TENFOLD_API tenfold_status tenfold_fallback_chain_open(tenfold_fallback_chain* fallback_chain, tenfold_engine** engine, int32_t* candidate);
/* Says that the open engine failed: the next tenfold_fallback_chain_open() goes on with the next candidate. `left` tells whether
 * there is one. */
TENFOLD_API tenfold_status tenfold_fallback_chain_report_failure(tenfold_fallback_chain* fallback_chain, tenfold_status status,
                                                                 const char* why, int32_t* left);
/* Begins at the top again. */
TENFOLD_API tenfold_status tenfold_fallback_chain_restart(tenfold_fallback_chain* fallback_chain);
typedef struct {
  size_t struct_size;
  int32_t candidate;
  tenfold_status status;
  const char *name, *why;
} tenfold_fallback_chain_failure;
TENFOLD_API int32_t tenfold_fallback_chain_failures(const tenfold_fallback_chain* fallback_chain);
TENFOLD_API tenfold_status tenfold_fallback_chain_failure_info(const tenfold_fallback_chain* fallback_chain, int32_t failure,
                                                       tenfold_fallback_chain_failure* info);

#ifdef __cplusplus
}
#endif
#endif
