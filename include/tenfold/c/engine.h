/* Engines: plans loaded, saved, asked for their bindings, refitted. */
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
  const char* device;              /* "cuda:1"; null: the first of the kind that the plan was built for */
  int32_t threads;                 /* 0: from affinity mask and cgroup quota */
  int32_t weights;                 /* TENFOLD_WEIGHTS_*: auto: copied if large and for a CPU, else mapped */
  int32_t skip_verification;       /* 1: do not compare the weights with their checksums */
  tenfold_log_function log;        /* may be null */
  void* log_user;
  int32_t pin_threads;             /* 1: each context's threads, the one that calls run too, keep one processor each */
  int32_t no_device_code;          /* 1: GPU binaries in the plan are not run, but compiled again from its description */
  uint32_t cpu_features;           /* restrict to these; 0: all the machine has */
  int32_t reserved;                /* 0 */
  const tenfold_plugin_set* plugins;   /* operators that the plan may use beside the built-in ones, or null */
  const tenfold_runtime* runtime;      /* that the engine belongs to; null: the process's own */
} tenfold_load_options;
/* `options` may be null: all defaults. The bytes of a plan are copied. */
TENFOLD_API tenfold_status tenfold_engine_load_with(const char* plan_path, const tenfold_load_options* options,
                                                    tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_load_bytes(const void* plan, size_t bytes,
                                                     const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_load(const char* plan_path, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* plan_path);
/* Plans that lie elsewhere, without a second copy of their weights. Callbacks give TENFOLD_OK or a status that ends the call. */
typedef tenfold_status (*tenfold_read_function)(void* user, uint64_t offset, void* to, size_t bytes);
TENFOLD_API tenfold_status tenfold_engine_load_from(uint64_t bytes, tenfold_read_function read, void* user,
                                                    const tenfold_load_options* options, tenfold_engine** engine);
/* Pieces come in order. */
typedef tenfold_status (*tenfold_write_function)(void* user, const void* piece, size_t bytes);
TENFOLD_API tenfold_status tenfold_engine_save_to(const tenfold_engine* engine, tenfold_write_function write, void* user);
/* Another handle to the same engine. */
TENFOLD_API tenfold_status tenfold_engine_share(const tenfold_engine* engine, tenfold_engine** handle);
TENFOLD_API void tenfold_engine_free(tenfold_engine* engine);    /* contexts stay usable */
TENFOLD_API int32_t tenfold_engine_bindings(const tenfold_engine* engine);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;            /* -1 where it depends on the shapes set */
  int32_t rank, is_input;
  int32_t has_default; /* 1: an input that need not be bound */
} tenfold_binding_info;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding,
                                                  tenfold_binding_info* info);

/* "batch": the symbol of an extent that depends on shapes or data; "": it is fixed. Null for what is none. */
TENFOLD_API const char* tenfold_engine_binding_symbol(const tenfold_engine* engine, int32_t binding, int32_t dim);
TENFOLD_API tenfold_status tenfold_engine_find_binding(const tenfold_engine* engine, const char* name, int32_t* binding);

typedef struct {
  size_t struct_size;
  const char *model_name, *device, *builder;
  int64_t weight_bytes;            /* constants as stored, packed */
  int64_t arena_bytes;             /* of the largest profile */
  int64_t scratch_bytes;           /* that a context has beside its arena, for its workers */
  int64_t arena_live_bytes;        /* the largest sum of live activations */
  int64_t library_workspace_bytes; /* of arena_bytes: the most that a step in cuBLASLt, cuDNN or oneDNN works in */
  int32_t profiles, steps, threads;
  int32_t on_gpu, waits_in_run, allocates_in_run;
  int32_t notes;           /* how many tenfold_engine_note() has */
  int64_t workspace_bytes; /* of arena_bytes: the most that any step works in */
  int64_t binding_bytes;   /* on a GPU: a context's copies of inputs and outputs there, at the largest shapes */
  int64_t pinned_bytes;    /* on a GPU: memory of the host that a context keeps for steps there, at the largest shapes */
} tenfold_engine_information;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_info(const tenfold_engine* engine, tenfold_engine_information* info);
/* GPU memory that the engine and its contexts have now; 0 on CPUs. */
TENFOLD_API tenfold_status tenfold_engine_gpu_bytes(const tenfold_engine* engine, int64_t* bytes);
/* What the build and the load had to tell, in their order: tenfold/notes.h says what kinds there are. */
enum { TENFOLD_NOTE_MESSAGE = 0, TENFOLD_NOTE_REFERENCE_KERNEL, TENFOLD_NOTE_PRECISION, TENFOLD_NOTE_REBUILT };
typedef struct {
  size_t struct_size;
  int32_t severity; /* TENFOLD_LOG_* */
  int32_t kind;     /* TENFOLD_NOTE_*; later versions may have others */
  const char* step; /* that it is about; "": the whole */
  const char* text;
} tenfold_note;
TENFOLD_API tenfold_status tenfold_engine_note(const tenfold_engine* engine, int32_t index, tenfold_note* note);
/* In: *rank = room in each of min, opt and max (any may be null); out: the input's rank. */
TENFOLD_API tenfold_status tenfold_engine_profile_shape(const tenfold_engine* engine, int32_t profile, int32_t input,
                                                        int64_t* min, int64_t* opt, int64_t* max, int32_t* rank);
/* Labels of the build, sorted by their keys. Null for an index that is none. */
TENFOLD_API int32_t tenfold_engine_labels(const tenfold_engine* engine);
TENFOLD_API const char* tenfold_engine_label(const tenfold_engine* engine, int32_t index, const char** key);

/* Refit: other values for named weights, without a rebuild. */
/* how many; 0 if the plan is not refittable */
TENFOLD_API int32_t tenfold_engine_weights(const tenfold_engine* engine);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;
  int32_t rank;
  const char* fixed;               /* why another value is refused; "": it may change */
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
/* A new engine that shares what does not change; contexts of the old one keep their weights. */
TENFOLD_API tenfold_status tenfold_engine_refit(const tenfold_engine* engine, const tenfold_weight* weights,
                                                int32_t count, tenfold_engine** refitted);

#ifdef __cplusplus
}
#endif
#endif
