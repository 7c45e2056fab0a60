/* The binary interface of plug-ins: operators from outside Tenfold, in C structs. It compiles as C99 and as C++.
 *
 * A plug-in library exports one symbol, tenfold_plugins(), which returns a table of operators. An operator is one of
 * two things:
 *   - a computation: infer() gives the types of results, compute() is the plain kernel, and tactics are faster kernels
 *     for devices;
 *   - a graph: expand() gives a text of known operators, which then fuse with their neighbors like any others.
 * Only the caller names libraries (Plugins::load(), tenfold_plugins_load(), --plugins=FILE); a plan never does. A plan
 * stores an operator's name and version and the attributes of each node, and no code. docs/guides/plugins.md is the user's
 * guide, and examples/plugin.c is a whole plug-in. tenfold/plugin.h adapts C++ classes to this interface.
 *
 * Only C crosses the border: numbers, pointers, and texts that end in a zero. No C++ type and no exception crosses it,
 * and neither side frees memory that the other has allocated. Texts and arrays that a call is given live until it
 * returns. A plug-in's own structs (library, operator, tactic, attribute, and what they point to) must not change until
 * release().
 *
 * Versions. A struct that begins with `size` holds sizeof(the struct) as its writer knew it. Fields are only ever added
 * at the end. A reader takes what lies beyond `size` as zero, and ignores what lies beyond the fields that it knows.
 * The structs without `size` (type, tensor, attribute) are fixed. TENFOLD_PLUGIN_ABI changes when this is not enough.
 * An engine refuses libraries of another number.
 *
 * Results of calls. 0 means success. 1 to 9 are tenfold_status (invalid argument, invalid model, unsupported, out of
 * memory, plan refused, io, device, cancelled, internal). Any other number counts as internal. A call that fails writes
 * why into call->why, at most call->why_bytes with the closing zero. The engine puts the names of operator, node and
 * library in front. Nothing is thrown.
 *
 * Threads. Several threads may call everything but run() and close() at once with one `self`, which therefore must not
 * change after the operator has been given. For one state, one thread at a time calls run() and close(); for several
 * states, several threads do. */
#ifndef TENFOLD_PLUGIN_ABI_H
#define TENFOLD_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENFOLD_PLUGIN_ABI 1

/* Element types have ONNX's numbers (TensorProto.DataType). There are no strings. 0: an optional operand that is left
 * out. */
enum {
  TENFOLD_TYPE_MISSING = 0, TENFOLD_TYPE_F32 = 1, TENFOLD_TYPE_U8 = 2, TENFOLD_TYPE_I8 = 3, TENFOLD_TYPE_U16 = 4, TENFOLD_TYPE_I16 = 5,
  TENFOLD_TYPE_I32 = 6, TENFOLD_TYPE_I64 = 7, TENFOLD_TYPE_BOOL = 9, TENFOLD_TYPE_F16 = 10, TENFOLD_TYPE_F64 = 11,
  TENFOLD_TYPE_U32 = 12, TENFOLD_TYPE_U64 = 13, TENFOLD_TYPE_BF16 = 16, TENFOLD_TYPE_F8E4M3FN = 17, TENFOLD_TYPE_F8E4M3FNUZ = 18,
  TENFOLD_TYPE_F8E5M2 = 19, TENFOLD_TYPE_F8E5M2FNUZ = 20, TENFOLD_TYPE_U4 = 21, TENFOLD_TYPE_I4 = 22, TENFOLD_TYPE_F4E2M1 = 23,
  TENFOLD_TYPE_F8E8M0 = 24, TENFOLD_TYPE_U2 = 25, TENFOLD_TYPE_I2 = 26
};
/* Plain: row major N,C,spatial. Channels last: N,spatial,C in memory. */
enum { TENFOLD_LAYOUT_PLAIN = 0, TENFOLD_LAYOUT_CHANNELS_LAST = 1 };

/* The type of an operand or result. An extent is a number ("384"), a symbol ("batch") or an expression ("2*batch +
 * 1"). */
typedef struct {
  int32_t dtype, rank;
  const char* const* dims;      /* `rank` extents, in the order N,C,spatial whatever the layout */
  const int64_t *min, *max;  /* what each extent may be in this build */
  const char* const* contents;  /* elements of a small integer tensor, as extents; null: they are not known */
  int64_t content_count;
  int32_t layout;               /* TENFOLD_LAYOUT_* */
  int32_t is_constant;          /* 1: the value is known when the plan is built */
  void* reserved[2];
} tenfold_plugin_type;

/* A tensor in a run. The memory is the engine's. A plug-in writes only results, workspace and `actual`. */
typedef struct {
  int32_t dtype, rank;
  const int64_t* shape;         /* N,C,spatial whatever the layout */
  const int64_t* strides;       /* of each extent, in elements */
  void* data;                   /* null: the operand is left out. In a tactic of "cuda": a device address */
  /* For a result with sizes that only the run knows ("found <= n"), `shape` holds the extents that there is room for:
   * the bound at the largest shapes that the plan is for. `actual` holds the same numbers, which compute() replaces by
   * the extents that it found. The elements lie dense at these extents. Null for all other tensors. */
  int64_t* actual;
  void* reserved[2];
} tenfold_plugin_tensor;

enum {
  TENFOLD_PLUGIN_INT, TENFOLD_PLUGIN_FLOAT, TENFOLD_PLUGIN_STRING, TENFOLD_PLUGIN_INTS, TENFOLD_PLUGIN_FLOATS, TENFOLD_PLUGIN_STRINGS,
  TENFOLD_PLUGIN_TENSOR
};
typedef struct {
  const char* name;
  int32_t kind;                 /* TENFOLD_PLUGIN_INT ... */
  int32_t count;                /* how many ints, floats or strings; 1 for the singular kinds */
  const int64_t* ints;
  const float* floats;
  const char* const* strings;
  const tenfold_plugin_tensor* tensor;
  void* reserved[2];
} tenfold_plugin_attribute;

/* Asks for the types of a node's results. */
typedef struct tenfold_plugin_infer tenfold_plugin_infer;
struct tenfold_plugin_infer {
  size_t size;
  /* in the order of the operator's table: the node's values or the defaults */
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_type* in;
  int32_t attribute_count, inputs, outputs;
  int32_t reserved;
  /* Gives result `output` its type. Call it once for each result. An extent may also be "NAME <= BOUND": a size that
   * only the run knows, at most the expression BOUND. The same NAME in two results of a node is the same size. Returns
   * 0, or another number for a type that makes no sense; infer() then returns that number. */
  int32_t (*set_output)(tenfold_plugin_infer* call, int32_t output, int32_t dtype, int32_t rank, const char* const* dims);
  char* why;
  size_t why_bytes;
  void* host;                                   /* for the engine's own use */
};

/* Asks for the graph of known operators that a node stands for. */
typedef struct tenfold_plugin_expand tenfold_plugin_expand;
struct tenfold_plugin_expand {
  size_t size;
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_type* in;
  int32_t attribute_count, inputs, outputs;
  int32_t reserved;
  /* Gives the text. Call it once. The text names the operands in0, in1 ... Its lines are
   * `NAME = OPERATOR(OPERANDS) ATTRIBUTES`, and the last is `return NAMES`. `half = f32[]{0.5}` is a constant, and
   * `$NAME` is the value of an attribute of the node:
   *     k = f32[]{$factor}
   *     y = Mul(in0, k)
   *     return y
   * Constants stand before the first operator. `_` is an operand that is left out. Operators are those of
   * docs/reference/operators.md (newest opset), or of other plug-ins ("com.example.Snake"). */
  int32_t (*set_graph)(tenfold_plugin_expand* call, const char* text);
  char* why;
  size_t why_bytes;
  void* host;
};

/* A problem for a tactic: one node, in one combination of layouts, with the extents as far as they are known. */
typedef struct {
  size_t size;
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_type *in, *out;
  int32_t attribute_count, inputs, outputs;
  int32_t config_count;
  const int64_t* config;        /* the numbers that configs() gave; none in layouts(), supports() and configs() */
  const char* device;           /* "cpu" or "cuda" */
  const char* device_name;
  int32_t device_ordinal;       /* number of the device among those of its kind */
  int32_t device_arch;          /* of a GPU: ten times its compute capability, such as 90 */
  char* why;
  size_t why_bytes;
} tenfold_plugin_problem;

typedef struct tenfold_plugin_run tenfold_plugin_run;
struct tenfold_plugin_run {
  size_t size;
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_tensor *in, *out;
  int32_t attribute_count, inputs, outputs;
  int32_t reserved;
  void* workspace;              /* as large as workspace() said, 64-byte aligned; on a GPU in device memory */
  void* stream;                 /* "cuda": the CUstream for all work; "cpu" and compute(): null */
  /* Runs part(context, i) for every i below `parts` on the engine's workers, and returns when all are done. Results
   * must not depend on the number of workers: divide the work by the problem. Null in compute() and on a GPU. */
  void (*parallel)(const tenfold_plugin_run* call, int64_t parts, void (*part)(void* context, int64_t i), void* context);
  char* why;
  size_t why_bytes;
  void* host;
};

/* A kernel for one kind of device. It is timed beside the operator's other tactics and the plain kernel, and the
 * fastest is taken. */
enum {
  /* On a GPU: run() allocates, waits, uses another stream or keeps memory only for the call, so that it cannot become a
   * part of a CUDA graph. It is then called in every run, and the engine captures no graph of the steps around it. A
   * caller who captures a run of the engine himself answers for it. */
  TENFOLD_PLUGIN_NOT_CAPTURABLE = 1
};
typedef struct {
  size_t size;
  const char* name;             /* letters, digits and _; each tactic of the operator has another */
  int32_t version;              /* raise it when config or state change their meaning: other plans are refused */
  int32_t flags;                /* TENFOLD_PLUGIN_NOT_CAPTURABLE, or 0; other bits are refused */
  const char* device;           /* "cpu" or "cuda" */
  /* Prepares one node for one context, or for being timed. run() gets what it writes to *state. Null: there is no
   * state. */
  int32_t (*open)(void* self, tenfold_plugin_problem* problem, void** state);
  /* Frees the state when its context ends, perhaps in another thread. On a GPU, no work of the state is pending then.
   * Null: nothing to free. */
  void (*close)(void* self, void* state);
  /* Computes. It neither allocates, locks nor waits. On a GPU, it only enqueues work on call->stream, which may be
   * capturing a graph (but see `flags`); the device's primary context is current. Operands are dense in their
   * layouts. */
  int32_t (*run)(void* self, void* state, tenfold_plugin_run* call);
  /* From here on, null means: all problems, plain layouts, one empty configuration, no workspace, nothing in place. */
  /* 0: yes. Any other number: no, and `why` says why in words that help a user. */
  int32_t (*supports)(void* self, tenfold_plugin_problem* problem);
  /* Gives the layouts of combination `which` (from 0) for each operand and result; they are plain before the call.
   * Returns 1, or 0 if there is no such combination. */
  int32_t (*layouts)(void* self, tenfold_plugin_problem* problem, int32_t which, int32_t* in, int32_t* out);
  /* Gives the numbers of configuration `which`, at most `room`; the best guess is the first. Returns how many, or -1 if
   * there is no such configuration. */
  int32_t (*configs)(void* self, tenfold_plugin_problem* problem, int32_t which, int64_t* numbers, int32_t room);
  /* Writes the size in bytes, as an extent ("4*batch*384"), into `text` of `room` bytes. */
  int32_t (*workspace)(void* self, tenfold_plugin_problem* problem, char* text, size_t room);
  /* 1: result `out` may lie in the memory of operand `in`. This is a permission. The engine uses it for one result of
   * the operand's extents. */
  int32_t (*in_place)(void* self, tenfold_plugin_problem* problem, int32_t in, int32_t out);
} tenfold_plugin_tactic;

typedef struct {
  size_t size;
  const char *domain, *name;    /* as in ONNX nodes: "com.example", "Snake"; "*": any domain without such an operator */
  int32_t since;                /* the first opset of the domain at which the name means this; 0 counts as 1 */
  /* Raise it when attributes or results change their meaning: plans of another version are then refused. 0 counts as
   * 1. */
  int32_t version;
  int32_t min_inputs, max_inputs, min_outputs, max_outputs;
  const tenfold_plugin_attribute* attributes;   /* names, types and defaults */
  int32_t attribute_count;
  int32_t tactic_count;
  const tenfold_plugin_tactic* const* tactics;
  void* self;
  /* Called once, when nothing uses the operator any more, also when it was refused. May be null. */
  void (*release)(void* self);
  /* A computation has both of these. infer() gives the types of results. compute() is the plain kernel on host memory;
   * it should be obviously right, and takes every type that infer() takes. It folds constants, tactics are compared
   * with it, and it runs where no tactic does. */
  int32_t (*infer)(void* self, tenfold_plugin_infer* call);
  int32_t (*compute)(void* self, tenfold_plugin_run* call);
  int32_t (*expand)(void* self, tenfold_plugin_expand* call);   /* a graph has only this */
} tenfold_plugin_operator;

typedef struct {
  size_t size;
  uint32_t abi;                 /* TENFOLD_PLUGIN_ABI */
  int32_t operator_count;
  const char* name;             /* name of the library, for messages */
  const tenfold_plugin_operator* const* operators;
  const char* error;            /* not null: why the library gives no operators */
} tenfold_plugin_library;

typedef struct {
  size_t size;
  uint32_t abi;                 /* TENFOLD_PLUGIN_ABI of the engine */
  const char* version;          /* version of the engine: "0.1.0" */
} tenfold_plugin_host;

/* The function that a library exports as tenfold_plugins(). Its table stays valid as long as the library is loaded.
 * Null counts as an error. */
typedef const tenfold_plugin_library* (*tenfold_plugins_function)(const tenfold_plugin_host* host);
#if defined(_WIN32)
#define TENFOLD_PLUGIN_EXPORT __declspec(dllexport)
#else
#define TENFOLD_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
}
#endif
#endif
