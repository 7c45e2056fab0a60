/* The content of a plan: as text, as JSON, and as data. tenfold/inspect.h says more. */
#ifndef TENFOLD_C_INSPECT_H
#define TENFOLD_C_INSPECT_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inspects an engine's plan. Texts live as long as the inspection. */
TENFOLD_API tenfold_status tenfold_inspect(const tenfold_engine* engine, tenfold_inspection** inspection);
/* Inspects the file of a plan. Nothing runs, so the plan's device, the processor's features and the plug-ins need not
 * be here. */
TENFOLD_API tenfold_status tenfold_inspect_plan(const char* path, tenfold_inspection** inspection);
TENFOLD_API void tenfold_inspection_free(tenfold_inspection* inspection);
/* `detail` -1 leaves steps out, 0 gives each step a line, 1 lists operands, too. */
TENFOLD_API tenfold_status tenfold_inspection_text(tenfold_inspection* inspection, int32_t detail, const char** text);
TENFOLD_API tenfold_status tenfold_inspection_json(tenfold_inspection* inspection, const char** text);

typedef struct {
  size_t struct_size;
  const char *model_name, *builder;   /* ONNX's graph.name; the library that built the plan */
  const char *device, *device_kind, *needs;
  int64_t weight_bytes;
  int32_t constants, portable, programs;   /* one program for each profile */
  int32_t clocks;
  /* of the model's file: "bytes:XXH3 in 128 bits", "" for no file; the options of the build in words */
  const char *model_hash, *build_options;
  int32_t plugin_operators;           /* how many operators of plug-ins its steps need */
} tenfold_plan_info;
TENFOLD_API tenfold_status tenfold_inspection_plan(const tenfold_inspection* inspection, tenfold_plan_info* info);
/* Domain and operator: "com.example.Snake". Null for a number that is none. */
TENFOLD_API const char* tenfold_inspection_plugin_operator(const tenfold_inspection* inspection, int32_t number);
/* Gives the format of a plan of any version, and the format that this library reads; either pointer may be null.
 * `builder` (may be null) gets the library that built the plan ("tenfold 0.1.0", or "" for an older plan, which does
 * not say), cut off at `room` bytes with the zero. */
TENFOLD_API tenfold_status tenfold_plan_version(const char* path, uint32_t* format, uint32_t* reads, char* builder, size_t room);

typedef struct {
  size_t struct_size;
  const char* of;                     /* "processor": the measured clock; "GPU", "GPU memory": the highest */
  int64_t khz;
} tenfold_clock_info;
/* Tells how fast a part of the machine ran when the plan's kernels were timed. */
TENFOLD_API tenfold_status tenfold_inspection_clock(const tenfold_inspection* inspection, int32_t clock, tenfold_clock_info* info);

typedef struct {
  size_t struct_size;
  int32_t steps, ranges;
  int64_t arena_bytes, arena_live_bytes;
  int32_t nodes, tensors;             /* how many of the model it names; 0: the plan keeps no names */
} tenfold_program_info;
TENFOLD_API tenfold_status tenfold_inspection_program(const tenfold_inspection* inspection, int32_t program,
                                                      tenfold_program_info* info);
typedef struct {
  size_t struct_size;
  const char* symbol;
  int64_t min, opt, max;
} tenfold_range_info;
TENFOLD_API tenfold_status tenfold_inspection_range(const tenfold_inspection* inspection, int32_t program, int32_t range,
                                                    tenfold_range_info* info);

typedef struct {
  size_t struct_size;
  const char *name, *op, *kind;       /* kind: "kernel", "reference", "copy", "branch", "loop" */
  const char* tactic;                 /* "": no kernel */
  int32_t tactic_version, config_count;
  const int64_t* config;
  const char *attributes, *body;      /* as text; "": none */
  int32_t inputs, outputs;
  int64_t workspace_bytes;
  int32_t parent, part;               /* the branch or loop that it belongs to, or -1; in a branch 0 then, 1 else */
  const int32_t* nodes;               /* nodes of the model that it computes, for tenfold_inspection_node() */
  int32_t node_count;                 /* 0: Tenfold added the step */
} tenfold_step_info;
TENFOLD_API tenfold_status tenfold_inspection_step(const tenfold_inspection* inspection, int32_t program, int32_t step,
                                                   tenfold_step_info* info);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;               /* an extent is -1 where it depends on the run */
  int32_t rank;
  const char *dims;                   /* "batch,384" */
  const char *layout, *place;         /* "cl"; "arena+512", "constant 3 'w'", "binding 0", "-": left out */
  int32_t constant, packed, dense;
  int64_t bytes;                      /* of a constant; -1: it is no constant */
  const int32_t* tensors;             /* tensors of the model that it equals, for tenfold_inspection_tensor() */
  int32_t tensor_count;
} tenfold_operand_info;
/* `operand` counts inputs first, then outputs. */
TENFOLD_API tenfold_status tenfold_inspection_operand(const tenfold_inspection* inspection, int32_t program, int32_t step,
                                                      int32_t operand, tenfold_operand_info* info);

/* A node of the model in one program. A node without a name is called by its operator and results: "Conv -> y". */
typedef struct {
  size_t struct_size;
  const char* name;
  const int32_t* steps;               /* the steps that compute it */
  int32_t step_count;
  /* what removed it, if no step computes it: "import", a pass, "view" (it only views other memory); else "" */
  const char* removed_by;
} tenfold_model_node_info;
TENFOLD_API tenfold_status tenfold_inspection_node(const tenfold_inspection* inspection, int32_t program, int32_t node,
                                                   tenfold_model_node_info* info);
/* A tensor of the model in one program. */
typedef struct {
  size_t struct_size;
  const char* name;
  int32_t step;                       /* the first step that makes it, reads it or has it inside; -1: none */
  /* where it is, in words: "result 0 of step 3 'conv1', arena+512", "gone: 'add' was removed by fold_constants" */
  const char* where;
} tenfold_model_tensor_info;
TENFOLD_API tenfold_status tenfold_inspection_tensor(const tenfold_inspection* inspection, int32_t program, int32_t tensor,
                                                     tenfold_model_tensor_info* info);

#ifdef __cplusplus
}
#endif
#endif
