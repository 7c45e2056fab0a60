/* What a plan holds: as text, as JSON, and as data. */
#ifndef TENFOLD_C_INSPECT_H
#define TENFOLD_C_INSPECT_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* detail: -1 no steps, 0 one line for each step, 1 with operands. Texts live as long as the inspection. */
TENFOLD_API tenfold_status tenfold_inspect(const tenfold_engine* engine, tenfold_inspection** inspection);
/* Of a plan's file, without opening it: nothing runs, so its device, the processor's features and its plug-ins need not be here. */
TENFOLD_API tenfold_status tenfold_inspect_plan(const char* path, tenfold_inspection** inspection);
TENFOLD_API void tenfold_inspection_free(tenfold_inspection* inspection);
TENFOLD_API tenfold_status tenfold_inspection_text(tenfold_inspection* inspection, int32_t detail, const char** text);
TENFOLD_API tenfold_status tenfold_inspection_json(tenfold_inspection* inspection, const char** text);

typedef struct {
  size_t struct_size;
  const char *model_name, *builder;   /* the model's file name; the library that built it */
  const char *device, *device_kind, *needs;
  int64_t weight_bytes;
  int32_t constants, portable, programs;   /* one program for each profile */
  int32_t clocks;
  const char *model_hash, *build_options;  /* "bytes:XXH3 in 128 bits" of the model's file, "": no file; the build's options in words */
  int32_t plugin_operators;           /* that its steps need of plug-ins */
} tenfold_plan_info;
TENFOLD_API tenfold_status tenfold_inspection_plan(const tenfold_inspection* inspection, tenfold_plan_info* info);
/* "com.example.Snake", domain and operator; null: there is none of that number. */
TENFOLD_API const char* tenfold_inspection_plugin_operator(const tenfold_inspection* inspection, int32_t number);
/* Of a plan of any version: its format and the one that this library reads (either place may be null). `builder`: room for the library that
 * built it ("tenfold 0.1.0", "": an older one, which does not say), cut off at `room` bytes with the zero; null: not asked for. */
TENFOLD_API tenfold_status tenfold_plan_version(const char* path, uint32_t* format, uint32_t* reads, char* builder, size_t room);

typedef struct {
  size_t struct_size;
  const char* of;                     /* "processor", as it was measured; "GPU", "GPU memory", at most */
  int64_t khz;
} tenfold_clock_info;
/* How fast a part of the machine ran when the plan's kernels were timed. */
TENFOLD_API tenfold_status tenfold_inspection_clock(const tenfold_inspection* inspection, int32_t clock, tenfold_clock_info* info);

typedef struct {
  size_t struct_size;
  int32_t steps, ranges;
  int64_t arena_bytes, arena_live_bytes;
  int32_t nodes, tensors;             /* of the model, by the names that it has for them; 0: the plan keeps none */
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
  int32_t parent, part;               /* the step of a branch or loop that it belongs to, -1: none; of a branch 0 then, 1 else */
  const int32_t* nodes;               /* of the model, that it computes: for tenfold_inspection_node */
  int32_t node_count;                 /* 0: a step that Tenfold added */
} tenfold_step_info;
TENFOLD_API tenfold_status tenfold_inspection_step(const tenfold_inspection* inspection, int32_t program, int32_t step,
                                                   tenfold_step_info* info);
typedef struct {
  size_t struct_size;
  const char *name, *dtype;
  const int64_t* shape;               /* -1 where it depends on the run */
  int32_t rank;
  const char *dims;                   /* "batch,384" */
  const char *layout, *place;         /* "cl"; "arena+512", "constant 3 'w'", "binding 0", "-": left out */
  int32_t constant, packed, dense;
  int64_t bytes;                      /* of a constant; -1: none */
  const int32_t* tensors;             /* of the model, that it equals: for tenfold_inspection_tensor */
  int32_t tensor_count;
} tenfold_operand_info;
/* operand: inputs first, then outputs. */
TENFOLD_API tenfold_status tenfold_inspection_operand(const tenfold_inspection* inspection, int32_t program, int32_t step,
                                                      int32_t operand, tenfold_operand_info* info);

/* A node of the model in one program: "conv1", or of a node without a name "Conv -> y". */
typedef struct {
  size_t struct_size;
  const char* name;
  const int32_t* steps;               /* that compute it */
  int32_t step_count;
  const char* removed_by;             /* where no step does: "import", a pass, "view" (only other memory seen); else "" */
} tenfold_model_node_info;
TENFOLD_API tenfold_status tenfold_inspection_node(const tenfold_inspection* inspection, int32_t program, int32_t node,
                                                   tenfold_model_node_info* info);
/* A tensor of the model in one program. */
typedef struct {
  size_t struct_size;
  const char* name;
  int32_t step;                       /* that makes it, reads it, or has it inside; -1: none */
  const char* where;                  /* in words: "result 0 of step 3 'conv1', arena+512", "gone: 'add' was removed by fold_constants" */
} tenfold_model_tensor_info;
TENFOLD_API tenfold_status tenfold_inspection_tensor(const tenfold_inspection* inspection, int32_t program, int32_t tensor,
                                                     tenfold_model_tensor_info* info);

#ifdef __cplusplus
}
#endif
#endif
