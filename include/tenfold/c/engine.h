/* Engines: loading and saving plans, bindings, refitting. */
#ifndef TENFOLD_C_ENGINE_H
#define TENFOLD_C_ENGINE_H

#include "tenfold/export.h"
#include "tenfold/c/log.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENFOLD_WEIGHTS_AUTO = 0, TENFOLD_WEIGHTS_COPY, TENFOLD_WEIGHTS_LOCK, TENFOLD_WEIGHTS_MAP };
typedef struct {
  size_t struct_size;
  const char* device;              /* "cuda:1"; null: the first device of the kind that the plan was built for */
  int32_t threads;                 /* up to 256; 0: from affinity mask and cgroup quota */
  int32_t weights;                 /* TENFOLD_WEIGHTS_*; auto: the file is read whole; map: it must not be written over */
  int32_t skip_verification;       /* 1: the weights are not compared with their checksums */
  tenfold_log_function log;        /* may be null */
  void* log_user;
  int32_t pin_threads;             /* 1: each thread of a context, the caller's too, keeps one processor */
  int32_t no_device_code;          /* 1: kernels of a GPU are compiled again from the plan's description */
  uint32_t cpu_features;           /* the plan may use these only; 0: all that the machine has */
  int32_t reserved;                /* 0 */
  const tenfold_plugin_set* plugins;   /* further operators that the plan may use, or null */
  const tenfold_runtime* runtime;      /* the engine belongs to it; null: the process's own */
} tenfold_load_options;
/* Load a plan. `options` may be null, which means all defaults. The bytes of a plan are copied. */
TENFOLD_API tenfold_status tenfold_engine_load_with(const char* plan_path, const tenfold_load_options* options,
                                                    tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_load_bytes(const void* plan, size_t bytes,
                                                     const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_load(const char* plan_path, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* plan_path);
/* Load and save plans that lie elsewhere, without a second copy of their weights. Callbacks return TENFOLD_OK, or a
 * status that ends the call. */
typedef tenfold_status (*tenfold_read_function)(void* user, uint64_t offset, void* to, size_t bytes);
TENFOLD_API tenfold_status tenfold_engine_load_from(uint64_t bytes, tenfold_read_function read, void* user,
                                                    const tenfold_load_options* options, tenfold_engine** engine);
/* It gets the pieces of the plan in their order. */
typedef tenfold_status (*tenfold_write_function)(void* user, const void* piece, size_t bytes);
TENFOLD_API tenfold_status tenfold_engine_save_to(const tenfold_engine* engine, tenfold_write_function write, void* user);
/* Gives another handle to the same engine. */
TENFOLD_API tenfold_status tenfold_engine_share(const tenfold_engine* engine, tenfold_engine** handle);
TENFOLD_API void tenfold_engine_free(tenfold_engine* engine);    /* its contexts stay usable */
TENFOLD_API int32_t tenfold_engine_bindings(const tenfold_engine* engine);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;            /* an extent is -1 where it depends on the shapes set */
  int32_t rank, is_input;
  int32_t has_default; /* 1: the input need not be bound */
} tenfold_binding_info;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding,
                                                  tenfold_binding_info* info);

/* The symbol ("batch") of an extent that depends on shapes or data. "": the extent is fixed. Null: there is no such
 * extent. */
TENFOLD_API const char* tenfold_engine_binding_symbol(const tenfold_engine* engine, int32_t binding, int32_t dim);
TENFOLD_API tenfold_status tenfold_engine_find_binding(const tenfold_engine* engine, const char* name, int32_t* binding);

typedef struct {
  size_t struct_size;
  const char *model_name, *device, *builder;
  int64_t weight_bytes;            /* constants as the plan stores them, packed */
  int64_t arena_bytes;             /* a context's arena at the largest profile */
  int64_t scratch_bytes;           /* what a context has beside its arena, for its workers */
  int64_t arena_live_bytes;        /* the largest sum of live activations */
  int64_t library_workspace_bytes; /* of the arena: the most that a step in cuBLASLt, cuDNN or oneDNN works in */
  int32_t profiles, steps, threads;
  int32_t on_gpu, waits_in_run, allocates_in_run;
  int32_t notes;           /* how many notes tenfold_engine_note() has */
  int64_t workspace_bytes; /* of the arena: the most that any step works in */
  int64_t binding_bytes;   /* a context's own memory for bindings, at the largest shapes (on a GPU: there) */
  int64_t pinned_bytes;    /* on a GPU: the host's memory that a context keeps for host steps, at the largest shapes */
  int32_t precomputed_steps;     /* of `steps`: those that tenfold_context_precompute() runs */
  int32_t reserved;        /* 0 */
} tenfold_engine_information;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_info(const tenfold_engine* engine, tenfold_engine_information* info);
/* Gives the GPU memory that the engine and its contexts have now, in bytes; 0 on CPUs. */
TENFOLD_API tenfold_status tenfold_engine_gpu_bytes(const tenfold_engine* engine, int64_t* bytes);
/* The notes of the build and then of the load, in their order. tenfold/notes.h explains the kinds. */
enum { TENFOLD_NOTE_MESSAGE = 0, TENFOLD_NOTE_REFERENCE_KERNEL, TENFOLD_NOTE_PRECISION, TENFOLD_NOTE_REBUILT, TENFOLD_NOTE_CLOCKS };
typedef struct {
  size_t struct_size;
  int32_t severity; /* TENFOLD_LOG_* */
  int32_t kind;     /* TENFOLD_NOTE_*; later versions may have others */
  const char* step; /* the step or node that the note is about; "": the whole plan */
  const char* text;
} tenfold_note;
TENFOLD_API tenfold_status tenfold_engine_note(const tenfold_engine* engine, int32_t index, tenfold_note* note);
/* Gives the shapes of an input in a profile. On entry *rank is the room in each of min, opt and max (any may be null);
 * on return it is the input's rank. */
TENFOLD_API tenfold_status tenfold_engine_profile_shape(const tenfold_engine* engine, int32_t profile, int32_t input,
                                                        int64_t* min, int64_t* opt, int64_t* max, int32_t* rank);
/* The labels of the build, sorted by their keys: how many, and each. Null for an index that is none. */
TENFOLD_API int32_t tenfold_engine_labels(const tenfold_engine* engine);
TENFOLD_API const char* tenfold_engine_label(const tenfold_engine* engine, int32_t index, const char** key);

/* Refitting gives named weights other values, without a rebuild. */
/* How many named weights there are; 0 if the plan is not refittable. */
TENFOLD_API int32_t tenfold_engine_weights(const tenfold_engine* engine);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;
  int32_t rank;
  const char* fixed;               /* why another value is refused; "": the weight may change */
} tenfold_weight_info;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_weight(const tenfold_engine* engine, int32_t weight,
                                                 tenfold_weight_info* info);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;
  int32_t rank;
  const void* data;                /* dense, row major; copied */
  size_t bytes;
} tenfold_weight;
/* Gives a new engine that shares what does not change. Contexts of the old engine keep their weights. */
TENFOLD_API tenfold_status tenfold_engine_refit(const tenfold_engine* engine, const tenfold_weight* weights,
                                                int32_t count, tenfold_engine** refitted);

#ifdef __cplusplus
}
#endif
#endif
