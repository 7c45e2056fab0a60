/* Tenfold in C: build, save, load and run models through opaque handles. Compiles as C99 and as C++.
 *
 * Every function returns a tenfold_status; text of the last failure in this thread: tenfold_last_error(). Handles are freed by
 * their own *_free (null is allowed). Engines may be shared by threads; networks and contexts are used by one thread at a time.
 * Structs start with struct_size = sizeof(the struct): fields added later are taken as zero from older callers. Indices of
 * bindings: inputs first, then outputs. Pointers handed out live as long as the handle they came from. */
#ifndef TENFOLD_C_API_H
#define TENFOLD_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 to 9 are tenfold::ErrorKind + 1, 100 and above 100 + tenfold::Status::Code of a run. */
typedef int32_t tenfold_status;
enum {
  TENFOLD_OK = 0, TENFOLD_INVALID_ARGUMENT, TENFOLD_INVALID_MODEL, TENFOLD_UNSUPPORTED, TENFOLD_OUT_OF_MEMORY, TENFOLD_PLAN_REFUSED,
  TENFOLD_IO, TENFOLD_DEVICE, TENFOLD_CANCELLED, TENFOLD_INTERNAL, TENFOLD_RUN_FAILED = 100
};
const char* tenfold_last_error(void); /* never null; of this thread's last failing call */
const char* tenfold_version(void);

typedef struct tenfold_network tenfold_network;
typedef struct tenfold_engine tenfold_engine;
typedef struct tenfold_context tenfold_context;
typedef int32_t tenfold_value; /* of one network; -1: an optional operand that is left out */

/* Element types by name: "f32", "f16", "bf16", "f64", "i64", "i32", "i8", "u8", "bool" ... */

/* --- Networks: one call per node, in ONNX's words (newest opset, domain ai.onnx) --- */
tenfold_status tenfold_network_create(const char* name, tenfold_network** network);
void tenfold_network_free(tenfold_network* network);
/* dims[i] >= 0: that extent; -1: dynamic, called names[i] (`names` may be null if none is). */
tenfold_status tenfold_network_input(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims,
                                     const char* const* names, int32_t rank, tenfold_value* value);
/* Copies the data. A name (or null) makes it a weight. */
tenfold_status tenfold_network_constant(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims, int32_t rank,
                                        const void* data, size_t bytes, tenfold_value* value);
/* An attribute: exactly one of the kinds. `count` numbers or strings for the plural kinds, ignored for the others. */
typedef enum {
  TENFOLD_ATTRIBUTE_INT, TENFOLD_ATTRIBUTE_FLOAT, TENFOLD_ATTRIBUTE_STRING, TENFOLD_ATTRIBUTE_INTS, TENFOLD_ATTRIBUTE_FLOATS,
  TENFOLD_ATTRIBUTE_STRINGS
} tenfold_attribute_kind;
typedef struct {
  size_t struct_size;
  const char* name;
  int32_t kind;            /* tenfold_attribute_kind */
  size_t count;
  const int64_t* ints;
  const float* floats;
  const char* const* strings;
} tenfold_attribute;
/* `values` gets `output_count` results. `name` may be null. */
tenfold_status tenfold_network_add_node(tenfold_network* network, const char* op, const char* name, const tenfold_value* inputs,
                                        int32_t input_count, const tenfold_attribute* attributes, int32_t attribute_count,
                                        tenfold_value* values, int32_t output_count);
tenfold_status tenfold_network_output(tenfold_network* network, tenfold_value value, const char* name);

/* --- Building --- */
typedef struct {           /* of one input; all three have `rank` extents */
  size_t struct_size;
  const char* input;
  int32_t profile, rank;   /* profiles are numbered from 0 without gaps */
  const int64_t *min, *opt, *max;
} tenfold_range;
typedef struct {
  size_t struct_size;
  const char* device;              /* null: "cpu" */
  int32_t threads;                 /* 0: from affinity mask and cgroup quota */
  int32_t optimization_level;      /* 0 to 5; TensorRT's meaning; -1: the default. 0, as in a zeroed struct, times nothing */
  int32_t allow_bf16;
  const char* timing_cache;        /* file, or null */
  const tenfold_range* ranges;
  int32_t range_count;
  void (*log)(void* user, int32_t severity, const char* message);   /* may be null; 0 verbose .. 3 error; from any thread */
  void* log_user;
  int32_t refittable;              /* 1: keep what tenfold_engine_refit() needs */
  int32_t no_tf32;                 /* 1: float32 is not rounded, as with --noTF32 */
  int32_t allow_fp16;
  int32_t (*progress)(void* user, const char* phase, int32_t done, int32_t total);   /* may be null; 0 cancels the build */
  void* progress_user;
  int32_t pack_tokens;             /* 1: compute only tokens that the attention mask keeps, where that is equal; 2: zeros for the others */
  int32_t no_winograd, no_strassen, no_fast_exp;   /* 1: not this one on a CPU, as with --noWinograd, --noStrassen, --noFastExp */
} tenfold_build_config;
/* `config` may be null: all defaults. */
tenfold_status tenfold_build_file(const char* onnx_path, const tenfold_build_config* config, tenfold_engine** engine);
tenfold_status tenfold_build_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config, tenfold_engine** engine);
tenfold_status tenfold_build_network(const tenfold_network* network, const tenfold_build_config* config, tenfold_engine** engine);
/* Tunes a plan made elsewhere for this machine; without ranges. */
tenfold_status tenfold_retune_file(const char* plan_path, const tenfold_build_config* config, tenfold_engine** engine);

/* --- Engines --- */
enum { TENFOLD_WEIGHTS_AUTO = 0, TENFOLD_WEIGHTS_COPY, TENFOLD_WEIGHTS_LOCK, TENFOLD_WEIGHTS_MAP };
typedef struct {
  size_t struct_size;
  const char* device;              /* "cuda:1"; null: the first of the kind that the plan was built for */
  int32_t threads;                 /* 0: from affinity mask and cgroup quota */
  int32_t weights;                 /* 0: copied if large and for a CPU, else mapped; copied into huge pages; copied and locked; mapped */
  int32_t skip_verification;       /* 1: do not compare the weights with their checksums */
  void (*log)(void* user, int32_t severity, const char* message);
  void* log_user;
  int32_t pin_threads;             /* 1: each context's threads, the one that calls run too, keep one processor each */
  int32_t reserved;                /* 0 */
} tenfold_load_options;
/* `options` may be null: all defaults. The bytes of a plan are copied. */
tenfold_status tenfold_engine_load_with(const char* plan_path, const tenfold_load_options* options, tenfold_engine** engine);
tenfold_status tenfold_engine_load_bytes(const void* plan, size_t bytes, const tenfold_load_options* options, tenfold_engine** engine);
tenfold_status tenfold_engine_load(const char* plan_path, tenfold_engine** engine);
tenfold_status tenfold_engine_save(const tenfold_engine* engine, const char* plan_path);
void tenfold_engine_free(tenfold_engine* engine);    /* contexts stay usable */
int32_t tenfold_engine_bindings(const tenfold_engine* engine);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;            /* -1 where it depends on the shapes set */
  int32_t rank, is_input;
} tenfold_binding_info;
/* Set info->struct_size before the call. */
tenfold_status tenfold_engine_binding(const tenfold_engine* engine, int32_t binding, tenfold_binding_info* info);

/* --- Refit: other values for named weights, without a rebuild --- */
int32_t tenfold_engine_weights(const tenfold_engine* engine);   /* how many; 0 if the plan is not refittable */
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;
  int32_t rank;
  const char* fixed;               /* why another value is refused; "": it may change */
} tenfold_weight_info;
/* Set info->struct_size before the call. */
tenfold_status tenfold_engine_weight(const tenfold_engine* engine, int32_t weight, tenfold_weight_info* info);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;
  int32_t rank;
  const void* data;                /* dense, row major; copied */
  size_t bytes;
} tenfold_weight;
/* A new engine that shares what does not change; contexts of the old one keep their weights. */
tenfold_status tenfold_engine_refit(const tenfold_engine* engine, const tenfold_weight* weights, int32_t count, tenfold_engine** refitted);

/* --- Contexts --- */
tenfold_status tenfold_context_create(const tenfold_engine* engine, tenfold_context** context);
void tenfold_context_free(tenfold_context* context);
tenfold_status tenfold_context_set_shape(tenfold_context* context, int32_t input, const int64_t* shape, int32_t rank);
/* In: *rank = room in `shape`; out: the binding's rank. */
tenfold_status tenfold_context_shape(const tenfold_context* context, int32_t binding, int64_t* shape, int32_t* rank);
/* Dense row-major memory of the caller, large enough for the shapes set; null: the context's own. */
tenfold_status tenfold_context_bind(tenfold_context* context, int32_t binding, void* memory, size_t bytes);
tenfold_status tenfold_context_memory(tenfold_context* context, int32_t binding, void** memory);   /* the context's own */
tenfold_status tenfold_context_run(tenfold_context* context);   /* neither allocates nor locks once it ran at these shapes */
/* Starts a run on a CUstream or cudaStream_t of the engine's GPU (null: the context's own) and returns; ExecutionContext::enqueue()
 * says when it waits. Bindings may be GPU memory. */
tenfold_status tenfold_context_enqueue(tenfold_context* context, void* stream);
tenfold_status tenfold_context_prepare(tenfold_context* context);  /* what the first run at these shapes and bindings would do */
tenfold_status tenfold_context_wait(tenfold_context* context);     /* until what was enqueued is done */
void tenfold_context_cancel(tenfold_context* context);          /* from any thread */

#ifdef __cplusplus
}
#endif
#endif
