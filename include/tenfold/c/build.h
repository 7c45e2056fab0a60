/* Building: from a model to an engine. */
#ifndef TENFOLD_C_BUILD_H
#define TENFOLD_C_BUILD_H

#include "tenfold/export.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/log.h"
#include "tenfold/c/quantize.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In a configuration of zeros, every field means the default. tenfold/build.h says more about each. */
enum { TENFOLD_LEVEL_UNTIMED = -1 };   /* level 0: takes the first tactic that fits, and times nothing */
/* One step of progress: "tune", 17 of 120. Returning 0 cancels the build. */
typedef int32_t (*tenfold_progress_function)(void* user, const char* phase, int32_t done, int32_t total);
enum {
  TENFOLD_TACTICS_REFERENCE = 1, TENFOLD_TACTICS_NATIVE = 2, TENFOLD_TACTICS_ONEDNN = 4, TENFOLD_TACTICS_CUBLAS_LT = 8,
  TENFOLD_TACTICS_CUDNN = 16
};
typedef struct { const char *key, *value; } tenfold_pair;
/* An input of an example that the overflow check runs. Examples are numbered from 0 without gaps. */
typedef struct {
  const char* input;
  const tenfold_data* data;
  int32_t example;
} tenfold_typical_input;
/* The order of an image's dims in the caller's memory. Where the model has [...,C,H,W], TENFOLD_ORDER_HWC gives the
 * binding the shape [...,H,W,C]. */
enum { TENFOLD_ORDER_OF_MODEL = 0, TENFOLD_ORDER_HWC, TENFOLD_ORDER_DHWC };
typedef struct {
  const char* binding; /* name of an input or output */
  const char* dtype;   /* null: the model's type; else values are cast, and nothing is scaled */
  int32_t order;       /* TENFOLD_ORDER_* */
} tenfold_binding_format;
/* The value that an input has where nothing is bound. */
typedef struct {
  const char* input;
  const tenfold_data* data;
} tenfold_input_default;
/* Types of single layers; tenfold/precision.h explains them. Entries about the outputs of one name that follow each
 * other are of its first, second and further output. */
enum { TENFOLD_LAYERS_FREE = 0, TENFOLD_LAYERS_PREFER, TENFOLD_LAYERS_OBEY };
enum { TENFOLD_LAYER_COMPUTES = 0, TENFOLD_LAYER_GIVES };
typedef struct {
  const char* layers; /* a name, or a pattern with one '*' */
  const char* dtype;  /* "f16" */
  int32_t of;         /* TENFOLD_LAYER_*: the type that it computes in, or that of an output */
} tenfold_layer_type;
typedef struct {
  const char *tactic, *config;
  double nanoseconds;              /* -1: not timed */
} tenfold_candidate;
/* Called for each problem. It returns the index of a candidate, or -1 to choose by time. It may be called
 * more than once for a problem. */
typedef int32_t (*tenfold_choose_function)(void* user, const char* node, const char* problem,
                                           const tenfold_candidate* candidates, int32_t count);
/* Receives the graph as text: after the import ("import"), and after each pass that changed it. */
typedef void (*tenfold_dump_function)(void* user, const char* pass, const char* graph);
typedef struct {
  size_t struct_size;
  const char* device;              /* null: "cpu" */
  int32_t threads;                 /* up to 256; 0: from affinity mask and cgroup quota */
  int32_t optimization_level;      /* 1 to 5, as in BuildConfig; 0: the default; TENFOLD_LEVEL_UNTIMED: level 0 */
  int32_t allow_bf16;
  const char* timing_cache;        /* file, or null */
  const tenfold_range* ranges;
  int32_t range_count;
  tenfold_log_function log;        /* may be null */
  void* log_user;
  int32_t refittable;              /* 1: the plan keeps what tenfold_engine_refit() needs */
  int32_t no_tf32;                 /* 1: f32 is not rounded and denormals are kept, as with --noTF32 */
  int32_t allow_fp16;
  tenfold_progress_function progress;   /* may be null */
  void* progress_user;
  int32_t pack_tokens;             /* PackTokens: 0 no, 1 where_equal, 2 with_zeros */
  int32_t no_winograd, no_strassen, no_fast_exp;   /* 1: a CPU does not use it, as with --noWinograd ... */
  int32_t no_int8, no_fp8;         /* 1: layers of a quantized model are not computed in this type */
  int32_t no_overflow_check;       /* 1: with allow_fp16 on a GPU, no check for values that f16 cannot hold */
  int32_t pin_threads;             /* tenfold_load_options::pin_threads of the engine that is returned */
  int32_t max_tactics;             /* most candidates to time for a problem, over all layouts; 0: by level */
  uint32_t tactic_sources;         /* TENFOLD_TACTICS_*; 0: all but oneDNN */
  uint32_t cpu_features;           /* the plan may use these only; 0: all that the machine has */
  int64_t workspace_bytes;         /* the most that a tactic may work in; 0: BuildConfig's default */
  int32_t error_on_cache_miss;     /* 1: the build fails where a time is not in the cache */
  int32_t drop_portable_graph;     /* 1: the plan cannot be tuned again elsewhere */
  tenfold_timing_cache* timings;   /* times in memory beside the file, or null */
  const char* const* disabled_passes;
  const char* const* external_data_dirs;
  int32_t disabled_pass_count, external_data_dir_count;
  const tenfold_pair* forced_tactics;   /* key: a problem's line, or how it begins; value: the tactic */
  const tenfold_pair* labels;      /* kept in the plan: tenfold_engine_label() */
  int32_t forced_tactic_count, label_count;
  const tenfold_typical_input* typical_inputs;   /* examples for the overflow check */
  int32_t typical_input_count;
  int32_t reserved;                /* 0 */
  uint64_t random_choices;         /* for tests: the builder chooses by this seed; 0: by time */
  tenfold_choose_function choose;  /* may be null */
  void* choose_user;
  tenfold_dump_function dump;      /* may be null */
  void* dump_user;
  tenfold_report* report;          /* the build fills it; may be null */
  const tenfold_plugin_set* plugins;    /* further operators and tactics, or null */
  int32_t timing_repetitions;           /* launches to time of each candidate; 0: as many as the level has time for */
  int32_t version_compatible;           /* 1: the plan keeps its model, for tenfold_load_compatible() */
  int32_t hardware_compatible;          /* 1: the same, and on a CPU kernels need no more than AVX2 */
  int32_t overridable_count;
  /* initializers that become inputs with defaults; "*": all that the model lists as inputs */
  const char* const* overridable;
  const tenfold_binding_format *input_formats, *output_formats; /* types and orders other than the model's */
  int32_t input_format_count, output_format_count;
  const tenfold_input_default* input_defaults; /* for inputs of any model */
  int32_t input_default_count;
  int32_t reserved2;              /* 0 */
  const tenfold_runtime* runtime; /* the engine belongs to it; null: the process's own */
  /* values in place of those of the ONNX file: of their type and shape, or their bytes as u8 */
  const tenfold_input_default* initializers;
  int32_t initializer_count;
  int32_t reserved3;              /* 0 */
  const tenfold_calibration* calibration; /* int8 or e4m3 for a plain model; may be null */
  int32_t auto_precision;         /* 1: fp16, bf16 and int8 follow from the device */
  int32_t layer_constraints;      /* TENFOLD_LAYERS_*: what becomes of layer_types */
  const tenfold_layer_type* layer_types;
  int32_t layer_type_count;
  int32_t reserved4;              /* 0 */
  const tenfold_error_budget* budget; /* needs `calibration`; may be null */
  const char* newest_row;         /* "x:1", as in BuildConfig; null: windows come as a whole */
  int32_t no_tf32_convolutions, no_tf32_matmul; /* 1: no_tf32 for convolutions only, for all other layers only */
  double time_limit_s;            /* the longest that the build may take; then TENFOLD_CANCELLED. 0: as long as it takes */
  /* members that rows of the table declare */
#define TF_FIELD(type, name, initial, forms, c, flag) c
#define TF_C_NEW(type, member, how) type member;
#include "tenfold/build_fields.h"
} tenfold_build_config;
/* Build an engine from a model. `config` may be null, which means all defaults. */
TENFOLD_API tenfold_status tenfold_build_file(const char* onnx_path, const tenfold_build_config* config,
                                              tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_build_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                               tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_build_network(const tenfold_network* network, const tenfold_build_config* config,
                                                 tenfold_engine** engine);
/* Choose kernels again, for this machine, for a plan that was made on another. `config` must have no ranges. */
TENFOLD_API tenfold_status tenfold_retune_file(const char* plan_path, const tenfold_build_config* config,
                                               tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_retune(const tenfold_engine* old, const tenfold_build_config* config,
                                          tenfold_engine** engine);

/* Load as tenfold_engine_load_with() and tenfold_engine_load_bytes() do. A plan that was built to be compatible, and
 * that this version or device refuses, is built again, at level 0, from the model that it keeps. tenfold_engine_note()
 * tells of it. */
TENFOLD_API tenfold_status tenfold_load_compatible(const char* plan_path, const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_load_compatible_bytes(const void* plan, size_t bytes, const tenfold_load_options* options,
                                                         tenfold_engine** engine);

/* Read the inputs and outputs of a model, without a build. Of the configuration, ranges, formats, defaults and
 * external_data_dirs count. */
TENFOLD_API tenfold_status tenfold_model_open(const char* onnx_path, const tenfold_build_config* config,
                                              tenfold_model** model);
TENFOLD_API tenfold_status tenfold_model_open_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                    tenfold_model** model);
TENFOLD_API void tenfold_model_free(tenfold_model* model);
TENFOLD_API int32_t tenfold_model_bindings(const tenfold_model* model);
TENFOLD_API tenfold_status tenfold_model_binding(const tenfold_model* model, int32_t binding, tenfold_binding_info* info);
/* The same as tenfold_engine_binding_symbol(). */
TENFOLD_API const char* tenfold_model_binding_symbol(const tenfold_model* model, int32_t binding, int32_t dim);

/* Reads the named weights of a model file, for tenfold_engine_refit(). */
TENFOLD_API tenfold_status tenfold_weights_read(const char* onnx_path, const tenfold_build_config* config,
                                                tenfold_weights** weights);
TENFOLD_API void tenfold_weights_free(tenfold_weights* weights);
TENFOLD_API int32_t tenfold_weights_count(const tenfold_weights* weights);
/* weight->data is dense and row major, and lives as long as the weights. Set weight->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_weights_get(const tenfold_weights* weights, int32_t index, tenfold_weight* weight);

/* The ONNX operators that models may use: how many, and the name of each, or null for an index that is none. `since`
 * gets the first opset whose form is accepted. */
TENFOLD_API int32_t tenfold_operators(void);
TENFOLD_API const char* tenfold_operator(int32_t index, const char** domain, int32_t* since);
/* The element types that the operator's newest form takes and gives ("T, int -> T; T: any"). It is empty where a node
 * of the model stands for other operators, and null for an index that is none. It lives as long as the process. */
TENFOLD_API const char* tenfold_operator_types(int32_t index);
/* Its attributes, with their defaults, then those without, "keepdims=1; axes: ints"; empty and null likewise. */
TENFOLD_API const char* tenfold_operator_attributes(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
