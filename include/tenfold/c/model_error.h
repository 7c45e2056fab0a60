/* Everything that is wrong with a model, as data (tenfold-builder). */
#ifndef TENFOLD_C_MODEL_ERROR_H
#define TENFOLD_C_MODEL_ERROR_H

#include "tenfold/c/build.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Imports the file as a build with this configuration would, and builds nothing. TENFOLD_OK with an empty list means
 * that the model is valid and supported. Another status means that nothing can be said of the model. */
TENFOLD_API tenfold_status tenfold_model_check(const char* onnx_path, const tenfold_build_config* config, tenfold_problems** problems);
/* Gives the problems of this thread's last call that failed. The list is empty if the model was not the reason. */
TENFOLD_API tenfold_status tenfold_last_problems(tenfold_problems** problems);
TENFOLD_API void tenfold_problems_free(tenfold_problems* problems);
TENFOLD_API int32_t tenfold_problems_count(const tenfold_problems* problems);
/* One problem. Strings stand as the model has them, and are "" where there is nothing to say. */
typedef struct {
  size_t struct_size;
  tenfold_status kind;             /* TENFOLD_INVALID_MODEL or TENFOLD_UNSUPPORTED */
  int32_t opset;                   /* version of the domain that the model imports; 0: none */
  const char* node;                /* "if_3/then_branch/conv1"; a node without a name: "-> RESULT" */
  const char *op, *domain;         /* domain "": ai.onnx. op "": the problem is no node's */
  const char *message, *hint;      /* what is wrong; what may mend it */
  const char* text;                /* the problem in words */
  int32_t outputs;                 /* how many results of the node tenfold_problems_output() names */
  int64_t more;                    /* in the last entry of a list cut off at 1000: how many are not listed; else 0 */
  /* index of the node, or of the outermost node around it, in the file's graph, from 0; -1: no node's */
  int64_t node_index;
} tenfold_problem;
TENFOLD_API tenfold_status tenfold_problems_get(const tenfold_problems* problems, int32_t index, tenfold_problem* problem);
/* Tells for each node of the file's own graph whether a build would take it (1) or not (0), as model_parts() of
 * tenfold/model_error.h explains. `problems` are those of the same model. On entry *count is the room, on return the
 * number of nodes. */
TENFOLD_API tenfold_status tenfold_problems_supported(const tenfold_problems* problems, const char* onnx_path, uint8_t* supported,
                                                      int32_t* count);
/* The name of a result of the problem's node. Null for an index that is none. */
TENFOLD_API const char* tenfold_problems_output(const tenfold_problems* problems, int32_t index, int32_t output);

/* Dynamic dimensions that a sound model does not serve at every extent, as extent_limits() of tenfold/model_error.h explains. */
typedef struct tenfold_extent_limits tenfold_extent_limits;
TENFOLD_API tenfold_status tenfold_model_extent_limits(const char* onnx_path, const tenfold_build_config* config,
                                                       tenfold_extent_limits** limits);
TENFOLD_API void tenfold_extent_limits_free(tenfold_extent_limits* limits);
TENFOLD_API int32_t tenfold_extent_limits_count(const tenfold_extent_limits* limits);
typedef struct {
  size_t struct_size;
  const char *input, *dimension, *why, *text;
  const int64_t* fits;             /* extents that fit */
  int32_t fit_count;
  int64_t refused;                 /* an extent that does not fit */
} tenfold_extent_limit;
TENFOLD_API tenfold_status tenfold_extent_limits_get(const tenfold_extent_limits* limits, int32_t index, tenfold_extent_limit* limit);

#ifdef __cplusplus
}
#endif
#endif
