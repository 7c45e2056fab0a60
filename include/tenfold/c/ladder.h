/* A ladder: a list of ways to get an engine, the best first. The first that works is taken. tenfold/ladder.h says
 * more. */
#ifndef TENFOLD_C_LADDER_H
#define TENFOLD_C_LADDER_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"
#include "tenfold/c/build.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/plan_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

TENFOLD_API tenfold_status tenfold_ladder_create(tenfold_ladder** ladder);
TENFOLD_API void tenfold_ladder_free(tenfold_ladder* ladder);
/* Rungs are tried in the order in which they were added. Add all of them before the first is opened. */
TENFOLD_API tenfold_status tenfold_ladder_add_plan(tenfold_ladder* ladder, const char* plan_path,
                                                   const tenfold_load_options* options);
/* The same by tenfold_load_compatible(). It is in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_ladder_add_compatible_plan(tenfold_ladder* ladder, const char* plan_path,
                                                              const tenfold_load_options* options);
/* Adds a model that is built, or taken from the cache. The cache (may be null) must live as long as the ladder. It is
 * in tenfold-builder. */
TENFOLD_API tenfold_status tenfold_ladder_add_model(tenfold_ladder* ladder, const char* onnx_path,
                                                    const tenfold_build_config* config, const tenfold_plan_cache* cache);
/* Gives a handle to the engine of the first rung from here on that opens. `rung` (may be null) gets its number. */
TENFOLD_API tenfold_status tenfold_ladder_open(tenfold_ladder* ladder, tenfold_engine** engine, int32_t* rung);
/* Says that the open engine failed: the next tenfold_ladder_open() goes on with the next rung. `left` tells whether
 * there is one. */
TENFOLD_API tenfold_status tenfold_ladder_hand_on(tenfold_ladder* ladder, tenfold_status status, const char* why, int32_t* left);
/* Begins at the top again. */
TENFOLD_API tenfold_status tenfold_ladder_restart(tenfold_ladder* ladder);
typedef struct {
  size_t struct_size;
  int32_t rung;
  tenfold_status status;
  const char *name, *why;
} tenfold_ladder_failure;
TENFOLD_API int32_t tenfold_ladder_failures(const tenfold_ladder* ladder);
TENFOLD_API tenfold_status tenfold_ladder_failure_info(const tenfold_ladder* ladder, int32_t failure,
                                                       tenfold_ladder_failure* info);

#ifdef __cplusplus
}
#endif
#endif
