/* The engines of one model for whatever shapes come, tuned behind the callers' backs: tenfold/model_engines.h tells all of it.
 * In the library tenfold-builder. */
#ifndef TENFOLD_C_MODEL_ENGINES_H
#define TENFOLD_C_MODEL_ENGINES_H

#include "tenfold/c/build.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/plan_cache.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TENFOLD_TUNE_NOW = 0,       /* with timing, for the very shapes; the caller waits */
  TENFOLD_TUNE_NEVER = 1,     /* untimed */
  TENFOLD_TUNE_BACKGROUND = 2 /* untimed, until another process has made a tuned plan for the range around the shapes */
};
typedef struct {
  size_t struct_size;
  int32_t tune;
  int32_t most_engines;            /* that are kept; 0: the default */
  const tenfold_plan_cache* cache; /* or null; may be freed once the engines are made */
  const char* tuner;               /* the program `tenfold`; null: the one that belongs to this library */
} tenfold_model_engines_options;

/* Used from any thread. What the configuration's callbacks get is used until the engines are freed. */
typedef struct tenfold_model_engines tenfold_model_engines;
/* Builds nothing yet. config and options may be null. */
TENFOLD_API tenfold_status tenfold_model_engines_create(const char* onnx_path, const tenfold_build_config* config,
                                                        const tenfold_model_engines_options* options,
                                                        tenfold_model_engines** engines);
/* The bytes are copied. */
TENFOLD_API tenfold_status tenfold_model_engines_create_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                              const tenfold_model_engines_options* options,
                                                              tenfold_model_engines** engines);
/* What is built in the background for them is ended, and waited for. */
TENFOLD_API void tenfold_model_engines_free(tenfold_model_engines* engines);

typedef struct {
  const char* input;
  const int64_t* dims;
  int32_t rank;
} tenfold_input_shape;
typedef struct {
  size_t struct_size;
  uint64_t number; /* of this engine among all that there have been */
  int32_t tuned;
  int32_t settled; /* no other will take its place */
} tenfold_served_engine;
/* The engine for these shapes of the inputs with open extents (others are not looked at), built if there is none. `served` may be null. */
TENFOLD_API tenfold_status tenfold_model_engines_get(tenfold_model_engines* engines, const tenfold_input_shape* shapes, int32_t count,
                                                     tenfold_engine** engine, tenfold_served_engine* served);
/* Any that is there, else one for open extents of 1. */
TENFOLD_API tenfold_status tenfold_model_engines_get_any(tenfold_model_engines* engines, tenfold_engine** engine,
                                                         tenfold_served_engine* served);
/* Waits up to so many milliseconds (below 0: for ever) until nothing is being tuned; *settled: whether that came true. */
TENFOLD_API tenfold_status tenfold_model_engines_wait(const tenfold_model_engines* engines, int64_t milliseconds, int32_t* settled);

/* What there is now, as a list of its own. */
typedef struct tenfold_served_list tenfold_served_list;
TENFOLD_API tenfold_status tenfold_model_engines_list_served(const tenfold_model_engines* engines, tenfold_served_list** list);
TENFOLD_API void tenfold_served_list_free(tenfold_served_list* list);
TENFOLD_API int32_t tenfold_served_list_count(const tenfold_served_list* list);
typedef struct {
  size_t struct_size;
  int32_t tuned;
  int32_t pending;     /* a tuned plan is to come */
  const char* failure; /* why none could be made; "": nothing failed */
  int64_t asked;       /* how often it was given */
  uint64_t number;     /* of the engine that serves them now */
} tenfold_served_shapes;
TENFOLD_API tenfold_status tenfold_served_list_get(const tenfold_served_list* list, int32_t index, tenfold_served_shapes* info);
/* The shapes of an input with open extents that it serves. */
TENFOLD_API tenfold_status tenfold_served_list_range(const tenfold_served_list* list, int32_t index, const char* input,
                                                     tenfold_range* range);
/* Ends all builds in the background, of all models; from then on none begins. */
TENFOLD_API void tenfold_end_background_builds(void);

#ifdef __cplusplus
}
#endif
#endif
