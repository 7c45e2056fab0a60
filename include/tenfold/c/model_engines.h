/* The engines of one model for the shapes that come, tuned in the background. tenfold/model_engines.h explains them.
 * They are in the library tenfold-builder. */
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
  TENFOLD_TUNE_NOW = 0,       /* with timing, for these exact shapes; the caller waits */
  TENFOLD_TUNE_NEVER = 1,     /* untimed, for these exact shapes */
  TENFOLD_TUNE_BACKGROUND = 2 /* untimed, until another process has made a tuned plan for the range around the shapes */
};
typedef struct {
  size_t struct_size;
  int32_t tune;
  int32_t max_engines;            /* how many are kept; 0: the default */
  const tenfold_plan_cache* cache; /* may be null; may be freed once the engines are created */
  const char* tuner;               /* the program `tenfold`; null: the one that belongs to this library */
} tenfold_model_engines_options;

/* Any thread may use it. The user pointers of the configuration's callbacks are used until the engines are freed. */
typedef struct tenfold_model_engines tenfold_model_engines;
/* Reads the model and builds nothing yet. `config` and `options` may be null. */
TENFOLD_API tenfold_status tenfold_model_engines_create(const char* onnx_path, const tenfold_build_config* config,
                                                        const tenfold_model_engines_options* options,
                                                        tenfold_model_engines** engines);
/* The same for a model in memory, whose bytes are copied. */
TENFOLD_API tenfold_status tenfold_model_engines_create_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                              const tenfold_model_engines_options* options,
                                                              tenfold_model_engines** engines);
/* Ends builds in the background for these engines, and waits for them. */
TENFOLD_API void tenfold_model_engines_free(tenfold_model_engines* engines);

typedef struct {
  const char* input;
  const int64_t* dims;
  int32_t rank;
} tenfold_input_shape;
typedef struct {
  size_t struct_size;
  uint64_t number; /* number of this engine among all that there have been */
  int32_t tuned;
  int32_t settled; /* no other engine will take its place */
} tenfold_served_engine;
/* Gives the engine for these shapes of the inputs with open extents; other inputs do not count. It is built if there is
 * none. `served` may be null. */
TENFOLD_API tenfold_status tenfold_model_engines_get(tenfold_model_engines* engines, const tenfold_input_shape* shapes, int32_t count,
                                                     tenfold_engine** engine, tenfold_served_engine* served);
/* Gives the engine that was used last. If there is none, an engine for open extents of 1. */
TENFOLD_API tenfold_status tenfold_model_engines_get_any(tenfold_model_engines* engines, tenfold_engine** engine,
                                                         tenfold_served_engine* served);
/* Waits up to `milliseconds` (below 0: for ever) until nothing is being tuned. *settled tells whether that came
 * true. */
TENFOLD_API tenfold_status tenfold_model_engines_wait(const tenfold_model_engines* engines, int64_t milliseconds, int32_t* settled);

/* Lists what there is now. The list does not change. */
typedef struct tenfold_served_list tenfold_served_list;
TENFOLD_API tenfold_status tenfold_model_engines_list_served(const tenfold_model_engines* engines, tenfold_served_list** list);
TENFOLD_API void tenfold_served_list_free(tenfold_served_list* list);
TENFOLD_API int32_t tenfold_served_list_count(const tenfold_served_list* list);
typedef struct {
  size_t struct_size;
  int32_t tuned;
  int32_t pending;     /* a tuned plan will follow */
  const char* failure; /* why no tuned plan could be made; "": nothing failed */
  int64_t requests;       /* how often the engine was given */
  uint64_t number;     /* number of the engine that serves them now */
} tenfold_served_shapes;
TENFOLD_API tenfold_status tenfold_served_list_get(const tenfold_served_list* list, int32_t index, tenfold_served_shapes* info);
/* Gives the shapes that the engine serves for an input with open extents. */
TENFOLD_API tenfold_status tenfold_served_list_range(const tenfold_served_list* list, int32_t index, const char* input,
                                                     tenfold_range* range);
/* Ends all builds in the background, of all models. From then on none begins. */
TENFOLD_API void tenfold_end_background_builds(void);

#ifdef __cplusplus
}
#endif
#endif
