/* The binary interface of plug-ins: operators from outside the tree, in C structs. Compiles as C99 and as C++.
 *
 * A plug-in library exports one symbol, tenfold_plugins(), which returns a table of operators. An operator is one of two things:
 *   - a computation: infer() gives the result types, compute() is the plain kernel, and tactics are faster kernels for devices;
 *   - a graph: expand() gives a text of known operators, which then fuse with their neighbours like any others.
 * Only the caller names libraries (Plugins::load(), tenfold_plugins_load(), --plugins=FILE); a plan never does. A plan stores an
 * operator's name and version and the attributes of each node, no code. docs/plugins.md is the user's guide, examples/plugin.c a whole
 * plug-in; tenfold/plugin.h adapts C++ classes to this interface.
 *
 * What crosses the border is C: numbers, pointers, texts that end in a zero. No C++ type, no exception, no memory that one side
 * allocates and the other frees. Texts and arrays that a call is given live until it returns. A plug-in's own structs (library,
 * operator, tactic, attribute, and what they point to) stay as they are until release().
 *
 * Versions. Structs that begin with `size` hold sizeof(the struct) as their writer knew it. Fields are only ever added at the end: a
 * reader takes what lies beyond `size` as zero, and ignores what lies beyond what it knows. The structs without `size` (type, tensor,
 * attribute) are fixed. TENFOLD_PLUGIN_ABI changes when this is not enough; an engine refuses libraries of another number.
 *
 * Results of calls: 0 means success. 1 to 9 are tenfold_status (invalid argument, invalid model, unsupported, out of memory, plan
 * refused, io, device, cancelled, internal); any other number counts as internal. A call that fails writes why into call->why, at most
 * call->why_bytes with the closing zero; the engine puts the names of operator, node and library in front. Nothing is thrown.
 *
 * Threads. Everything but run() and close() may be called by several threads at once with one `self`, which therefore does not change
 * after the operator has been given. run() and close() are called by one thread at a time for one state, by several for several. */
#ifndef TENFOLD_PLUGIN_ABI_H
#define TENFOLD_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENFOLD_PLUGIN_ABI 1

/* Element types have ONNX's numbers (TensorProto.DataType). Strings are not among them. 0: an optional operand that is left out. */
enum {
  TENFOLD_TYPE_MISSING = 0, TENFOLD_TYPE_F32 = 1, TENFOLD_TYPE_U8 = 2, TENFOLD_TYPE_I8 = 3, TENFOLD_TYPE_U16 = 4, TENFOLD_TYPE_I16 = 5,
  TENFOLD_TYPE_I32 = 6, TENFOLD_TYPE_I64 = 7, TENFOLD_TYPE_BOOL = 9, TENFOLD_TYPE_F16 = 10, TENFOLD_TYPE_F64 = 11,
  TENFOLD_TYPE_U32 = 12, TENFOLD_TYPE_U64 = 13, TENFOLD_TYPE_BF16 = 16, TENFOLD_TYPE_F8E4M3FN = 17, TENFOLD_TYPE_F8E4M3FNUZ = 18,
  TENFOLD_TYPE_F8E5M2 = 19, TENFOLD_TYPE_F8E5M2FNUZ = 20, TENFOLD_TYPE_U4 = 21, TENFOLD_TYPE_I4 = 22, TENFOLD_TYPE_F4E2M1 = 23,
  TENFOLD_TYPE_F8E8M0 = 24, TENFOLD_TYPE_U2 = 25, TENFOLD_TYPE_I2 = 26
};
enum { TENFOLD_LAYOUT_PLAIN = 0, TENFOLD_LAYOUT_CHANNELS_LAST = 1 };  /* row major N,C,spatial; in memory N,spatial,C */

/* The type of an operand or result. An extent is a number ("384"), a symbol ("batch") or an expression ("2*batch + 1"). */
typedef struct {
  int32_t dtype, rank;
  const char* const* dims;      /* `rank` extents, in the order N,C,spatial whatever the layout */
  const int64_t *least, *most;  /* what each extent may be in this build */
  const char* const* contents;  /* elements of a small integer tensor, as extents; null where they are not known */
  int64_t content_count;
  int32_t layout;               /* TENFOLD_LAYOUT_* */
  int32_t is_constant;          /* 1: known when the plan is built */
  void* reserved[2];
} tenfold_plugin_type;

/* A tensor in a run. The memory is the engine's; a plug-in writes nothing but results, workspace and `actual`. */
typedef struct {
  int32_t dtype, rank;
  const int64_t* shape;         /* N,C,spatial whatever the layout */
  const int64_t* strides;       /* of each extent, in elements */
  void* data;                   /* null: an operand that is left out. On a GPU: a device address, where a tactic of "cuda" runs */
  /* Of a result with sizes that only the run knows ("found <= n"): `shape` holds what there is room for (the bound, at the largest shapes
   * that the plan is for), and `actual` the same numbers, into which compute() writes the extents that it found. The elements lie dense
   * under these. Null for all others. */
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
  int32_t count;                /* of ints, floats, strings; 1 for the singular kinds */
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
  const tenfold_plugin_attribute* attributes;   /* those of the operator's table, in its order, with the node's values or the defaults */
  const tenfold_plugin_type* in;
  int32_t attribute_count, inputs, outputs;
  int32_t reserved;
  /* Gives result `output` its type; for each of them once. An extent may also be "NAME <= BOUND": a size that only the run knows, at
   * most the expression BOUND. The same NAME in two results of a node is the same size. Returns 0, or not for a type that makes no sense:
   * then infer() returns that. */
  int32_t (*set_output)(tenfold_plugin_infer* call, int32_t output, int32_t dtype, int32_t rank, const char* const* dims);
  char* why;
  size_t why_bytes;
  void* host;                                   /* the engine's own */
};

/* Asks for the graph of known operators that a node stands for. */
typedef struct tenfold_plugin_expand tenfold_plugin_expand;
struct tenfold_plugin_expand {
  size_t size;
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_type* in;
  int32_t attribute_count, inputs, outputs;
  int32_t reserved;
  /* Gives the text, once. It names the operands in0, in1 ...; lines are `NAME = OPERATOR(OPERANDS) ATTRIBUTES`, the last one is
   * `return NAMES`. `half = f32[]{0.5}` is a constant, `$NAME` the value of an attribute of the node:
   *     k = f32[]{$factor}
   *     y = Mul(in0, k)
   *     return y
   * Constants stand before the first operator. `_` is an operand that is left out.
   * Operators have the names of docs/operators.md (newest opset), or are other plug-ins' ("com.example.Snake"). */
  int32_t (*set_graph)(tenfold_plugin_expand* call, const char* text);
  char* why;
  size_t why_bytes;
  void* host;
};

/* What a tactic is asked about: one node, in one combination of layouts, with extents as far as they are known. */
typedef struct {
  size_t size;
  const tenfold_plugin_attribute* attributes;
  const tenfold_plugin_type *in, *out;
  int32_t attribute_count, inputs, outputs;
  int32_t config_count;
  const int64_t* config;        /* the numbers that configs() gave; none while layouts(), supports() and configs() are asked */
  const char* device;           /* "cpu" or "cuda" */
  const char* device_name;
  int32_t device_ordinal;       /* which of several of its kind */
  int32_t device_arch;          /* of a GPU: its compute capability times ten, 90 */
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
  void* workspace;              /* as large as workspace() said, 64-byte aligned; on a GPU the device's */
  void* stream;                 /* "cuda": the CUstream that all work goes to. "cpu" and compute(): null */
  /* Runs part(context, i) for every i below `parts` on the engine's workers and returns when all are done. Results must not depend on
   * how many workers there are: cut the work by the problem. Null in compute() and on a GPU. */
  void (*parallel)(const tenfold_plugin_run* call, int64_t parts, void (*part)(void* context, int64_t i), void* context);
  char* why;
  size_t why_bytes;
  void* host;
};

/* A kernel for one kind of device. It is timed beside the operator's others and the plain one; the fastest is taken. */
typedef struct {
  size_t size;
  const char* name;             /* of letters, digits and _, another for each tactic of the operator */
  int32_t version;              /* raised when config or state change their meaning: plans of another version are refused */
  int32_t reserved;
  const char* device;           /* "cpu" or "cuda" */
  /* Prepares one node for one context (or for being timed): *state is what run() gets. Null: no state. */
  int32_t (*open)(void* self, tenfold_plugin_problem* problem, void** state);
  /* Frees it, with the context; null: nothing to free. The thread may be another. On a GPU no work of the state's is pending. */
  void (*close)(void* self, void* state);
  /* Neither allocates, locks nor waits. On a GPU it only asks for work on call->stream, which may be recording a graph, and the device's
   * primary context is current. Operands are dense in their layouts. */
  int32_t (*run)(void* self, void* state, tenfold_plugin_run* call);
  /* From here on null means: all problems, plain layouts, one empty configuration, no workspace, nothing in place. */
  int32_t (*supports)(void* self, tenfold_plugin_problem* problem);   /* 0: yes; else `why` says in words that help a user */
  /* The layouts of combination `which` (from 0) for each operand and result, plain before the call. 1: there is one, 0: no more. */
  int32_t (*layouts)(void* self, tenfold_plugin_problem* problem, int32_t which, int32_t* in, int32_t* out);
  /* The numbers of configuration `which`, best guess first, into at most `room`; returns how many, -1: no more. */
  int32_t (*configs)(void* self, tenfold_plugin_problem* problem, int32_t which, int64_t* numbers, int32_t room);
  /* Bytes as an extent ("4*batch*384"), into `text` of `room` bytes. */
  int32_t (*workspace)(void* self, tenfold_plugin_problem* problem, char* text, size_t room);
  /* 1: result `out` may lie in the memory of operand `in`. A permission; the engine uses it for one result of the operand's extents. */
  int32_t (*in_place)(void* self, tenfold_plugin_problem* problem, int32_t in, int32_t out);
} tenfold_plugin_tactic;

typedef struct {
  size_t size;
  const char *domain, *name;    /* as ONNX nodes write them: "com.example", "Snake". "*": nodes of any domain that has no such operator */
  int32_t since;                /* the first opset of the domain that means this; 0: 1 */
  int32_t version;              /* raised when attributes or results change their meaning: plans of another version are refused; 0: 1 */
  int32_t min_inputs, max_inputs, min_outputs, max_outputs;
  const tenfold_plugin_attribute* attributes;   /* names, types and defaults */
  int32_t attribute_count;
  int32_t tactic_count;
  const tenfold_plugin_tactic* const* tactics;
  void* self;
  void (*release)(void* self);  /* once, when nothing uses the operator any more, also when it was refused; may be null */
  /* A computation has both of these: the result types, and the plain kernel on host memory: obviously right, for any type that infer()
   * takes. It folds constants, is what tactics are compared with, and runs where no tactic does. */
  int32_t (*infer)(void* self, tenfold_plugin_infer* call);
  int32_t (*compute)(void* self, tenfold_plugin_run* call);
  int32_t (*expand)(void* self, tenfold_plugin_expand* call);   /* a graph has this alone */
} tenfold_plugin_operator;

typedef struct {
  size_t size;
  uint32_t abi;                 /* TENFOLD_PLUGIN_ABI */
  int32_t operator_count;
  const char* name;             /* of the library, for messages */
  const tenfold_plugin_operator* const* operators;
  const char* error;            /* not null: why the library gives nothing here */
} tenfold_plugin_library;

typedef struct {
  size_t size;
  uint32_t abi;                 /* the engine's */
  const char* version;          /* of the engine: "0.1.0" */
} tenfold_plugin_host;

/* What a library exports under this name. The table stays valid as long as the library is loaded; null counts as an error. */
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
