/* Networks: one call for each node, with ONNX's names (newest opset, domain ai.onnx). tenfold/network.h says more. */
#ifndef TENFOLD_C_NETWORK_H
#define TENFOLD_C_NETWORK_H

#include "tenfold/export.h"
#include "tenfold/c/build.h"
#include "tenfold/c/data.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

TENFOLD_API tenfold_status tenfold_network_create(const char* name, tenfold_network** network);
/* The same with plug-ins, whose operators the network may use. A build uses them unless its configuration has
 * others. */
TENFOLD_API tenfold_status tenfold_network_create_with(const char* name, const tenfold_plugin_set* plugins,
                                                       tenfold_network** network);
TENFOLD_API void tenfold_network_free(tenfold_network* network);
/* Adds an input. dims[i] is an extent from 0, or -1 for a dynamic one that is called names[i]. `names` may be null if
 * none is dynamic. */
TENFOLD_API tenfold_status tenfold_network_input(tenfold_network* network, const char* name, const char* dtype,
                                                 const int64_t* dims, const char* const* names, int32_t rank,
                                                 tenfold_value* value);
/* Adds a constant, whose data is copied. A constant with a name is a weight; `name` may be null. */
TENFOLD_API tenfold_status tenfold_network_constant(tenfold_network* network, const char* name, const char* dtype,
                                                    const int64_t* dims, int32_t rank, const void* data, size_t bytes,
                                                    tenfold_value* value);
/* An attribute of one of these kinds. `count` is the number of numbers or strings of the plural kinds; the others
 * ignore it. */
typedef enum {
  TENFOLD_ATTRIBUTE_INT, TENFOLD_ATTRIBUTE_FLOAT, TENFOLD_ATTRIBUTE_STRING, TENFOLD_ATTRIBUTE_INTS,
  TENFOLD_ATTRIBUTE_FLOATS, TENFOLD_ATTRIBUTE_STRINGS, TENFOLD_ATTRIBUTE_TENSOR
} tenfold_attribute_kind;
typedef struct {
  size_t struct_size;
  const char* name;
  int32_t kind;            /* tenfold_attribute_kind */
  size_t count;
  const int64_t* ints;
  const float* floats;
  const char* const* strings;
  const tenfold_data* tensor;
} tenfold_attribute;
/* Adds a node. `values` gets its `output_count` results. `name` may be null. */
TENFOLD_API tenfold_status tenfold_network_add_node(tenfold_network* network, const char* op, const char* name,
                                                    const tenfold_value* inputs, int32_t input_count,
                                                    const tenfold_attribute* attributes, int32_t attribute_count,
                                                    tenfold_value* values, int32_t output_count);
/* The same for an operator of any domain; null is ai.onnx. */
TENFOLD_API tenfold_status tenfold_network_add_node_of(tenfold_network* network, const char* domain, const char* op,
                                                       const char* name, const tenfold_value* inputs, int32_t input_count,
                                                       const tenfold_attribute* attributes, int32_t attribute_count,
                                                       tenfold_value* values, int32_t output_count);
/* The body of a branch or loop. It adds its nodes to `body`, which has these inputs, and gives its results. On entry
 * *result_count is the room, on return the number of results. It may be called more than once, and must do the same
 * each time. A status other than TENFOLD_OK ends the call. */
typedef tenfold_status (*tenfold_body_function)(void* user, tenfold_network* body, const tenfold_value* inputs,
                                                int32_t input_count, tenfold_value* results, int32_t* result_count);
/* Bodies get `captures` as inputs. On entry *result_count is the room in `results`, on return the number of results. */
TENFOLD_API tenfold_status tenfold_network_if(tenfold_network* network, tenfold_value condition,
                                              const tenfold_value* captures, int32_t capture_count,
                                              tenfold_body_function then_body, tenfold_body_function else_body, void* user,
                                              tenfold_value* results, int32_t* result_count);
/* The body's inputs are: iteration, condition, carried values, captures. It gives: condition, carried values, then one
 * piece of each scan. `trips` or `condition` may be -1, but not both. */
TENFOLD_API tenfold_status tenfold_network_loop(tenfold_network* network, tenfold_value trips, tenfold_value condition,
                                                const tenfold_value* carried, int32_t carried_count,
                                                const tenfold_value* captures, int32_t capture_count,
                                                tenfold_body_function body, void* user, tenfold_value* results,
                                                int32_t* result_count);
/* The body's inputs are: states, a slice of each sequence, captures. It gives: states, then a slice of each result that
 * is stacked. Attributes are those of ONNX's Scan that begin with scan_. */
TENFOLD_API tenfold_status tenfold_network_scan(tenfold_network* network, const tenfold_value* states, int32_t state_count,
                                                const tenfold_value* sequences, int32_t sequence_count,
                                                const tenfold_value* captures, int32_t capture_count,
                                                const tenfold_attribute* attributes, int32_t attribute_count,
                                                tenfold_body_function body, void* user, tenfold_value* results,
                                                int32_t* result_count);
TENFOLD_API tenfold_status tenfold_network_output(tenfold_network* network, tenfold_value value, const char* name);

/* Networks that are read from ONNX, walked and edited. Texts and lists live until the next call for the network. */
TENFOLD_API tenfold_status tenfold_network_read(const char* onnx_path, const tenfold_build_config* config,
                                                tenfold_network** network);
TENFOLD_API tenfold_status tenfold_network_read_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                      tenfold_network** network);
typedef int32_t tenfold_node; /* a node of one network; -1: no node */
/* Gives the nodes in an order in which each comes after those whose results it reads. On entry *count is the room in
 * `nodes`, on return the number of nodes. The two functions that follow do the same for values. */
TENFOLD_API tenfold_status tenfold_network_nodes(tenfold_network* network, tenfold_node* nodes, int32_t* count);
TENFOLD_API tenfold_status tenfold_network_inputs(tenfold_network* network, tenfold_value* values, int32_t* count);
TENFOLD_API tenfold_status tenfold_network_outputs(tenfold_network* network, tenfold_value* values, int32_t* count);
typedef struct {
  size_t struct_size;
  const char *name, *op, *domain;
  const tenfold_value *inputs, *outputs;
  int32_t input_count, output_count, attribute_count, bodies;
} tenfold_node_info;
TENFOLD_API tenfold_status tenfold_network_node(tenfold_network* network, tenfold_node node, tenfold_node_info* info);
/* Gives attribute `index` of a node, in the order of names. The caller frees a tensor. */
TENFOLD_API tenfold_status tenfold_network_node_attribute(tenfold_network* network, tenfold_node node, int32_t index,
                                                          tenfold_attribute* attribute, tenfold_data** tensor);
/* Gives a copy of body `index` of an If (then, else), Loop or Scan, to be walked. It can be neither changed nor built.
 * The caller frees it. */
TENFOLD_API tenfold_status tenfold_network_node_body(tenfold_network* network, tenfold_node node, int32_t index,
                                                     tenfold_network** body);
typedef struct {
  size_t struct_size;
  const char *name, *dtype, *type;   /* type: "f32[batch,3]" */
  const int64_t* shape;              /* an extent is -1 where it is no number */
  int32_t rank, is_constant;
  tenfold_node producer;             /* -1: it is an input or a constant */
} tenfold_value_info;
TENFOLD_API tenfold_status tenfold_network_value(tenfold_network* network, tenfold_value value, tenfold_value_info* info);
TENFOLD_API tenfold_status tenfold_network_find(tenfold_network* network, const char* name, tenfold_value* value);
TENFOLD_API tenfold_status tenfold_network_users(tenfold_network* network, tenfold_value value, tenfold_node* nodes,
                                                 int32_t* count);
/* Gives a copy of a constant's content, which the caller frees. */
TENFOLD_API tenfold_status tenfold_network_constant_data(tenfold_network* network, tenfold_value value, tenfold_data** data);
/* Edits. An edit that does not fit is refused, and the network stays as it was. */
TENFOLD_API tenfold_status tenfold_network_rename_value(tenfold_network* network, tenfold_value value, const char* name);
TENFOLD_API tenfold_status tenfold_network_rename_node(tenfold_network* network, tenfold_node node, const char* name);
TENFOLD_API tenfold_status tenfold_network_set_attribute(tenfold_network* network, tenfold_node node,
                                                         const tenfold_attribute* attribute);
TENFOLD_API tenfold_status tenfold_network_remove_attribute(tenfold_network* network, tenfold_node node, const char* name);
TENFOLD_API tenfold_status tenfold_network_set_input(tenfold_network* network, tenfold_node node, int32_t index,
                                                     tenfold_value value);
TENFOLD_API tenfold_status tenfold_network_set_constant(tenfold_network* network, tenfold_value value,
                                                        const tenfold_data* content);
TENFOLD_API tenfold_status tenfold_network_replace(tenfold_network* network, tenfold_value value, tenfold_value by);
TENFOLD_API tenfold_status tenfold_network_remove(tenfold_network* network, tenfold_node node);
TENFOLD_API tenfold_status tenfold_network_remove_input(tenfold_network* network, const char* name);
TENFOLD_API tenfold_status tenfold_network_remove_output(tenfold_network* network, const char* name);
TENFOLD_API tenfold_status tenfold_network_remove_unused(tenfold_network* network, int32_t* removed);
TENFOLD_API tenfold_status tenfold_network_text(tenfold_network* network, const char** text);

#ifdef __cplusplus
}
#endif
#endif
