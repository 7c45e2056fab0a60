/* Layers with TensorRT's names, options and meanings, on a network, which must outlive them. tenfold/layers.h says
 * more. */
#ifndef TENFOLD_C_LAYERS_H
#define TENFOLD_C_LAYERS_H

#include "tenfold/export.h"
#include "tenfold/c/network.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_layers tenfold_layers;
/* Where an operand comes from: result `result` of layer `layer`, or, if that is -1, a value of the network that no
 * layer made. A value of -1 is an operand that is left out. */
typedef struct {
  int32_t layer, result;
  tenfold_value value;
} tenfold_layer_operand;

TENFOLD_API tenfold_status tenfold_layers_create(tenfold_network* network, tenfold_layers** layers);
TENFOLD_API void tenfold_layers_free(tenfold_layers* layers);
/* Kind `index`, in the order of names; null after the last. */
TENFOLD_API const char* tenfold_layers_kind(int32_t index);
/* Adds a layer. `name` may be null. Tensors among the options are shared, and may be freed after the call. */
TENFOLD_API tenfold_status tenfold_layers_add(tenfold_layers* layers, const char* kind, const char* name,
                                              const tenfold_layer_operand* operands, int32_t operand_count,
                                              const tenfold_attribute* options, int32_t option_count, int32_t* layer);
TENFOLD_API tenfold_status tenfold_layers_set(tenfold_layers* layers, int32_t layer, const tenfold_attribute* option);
/* Gives the present value of an option. Texts and lists live until the next call. The caller frees a tensor; null: none
 * is set. */
TENFOLD_API tenfold_status tenfold_layers_option(tenfold_layers* layers, int32_t layer, const char* name,
                                                 tenfold_attribute* option, tenfold_data** tensor);
typedef struct {
  size_t struct_size;
  const char *kind, *name;
  const tenfold_layer_operand* operands;
  int32_t operand_count;
} tenfold_layer_info;
/* Describes layer 0, 1 ... What the struct points to lives until the next call. TENFOLD_INVALID_ARGUMENT after the
 * last. */
TENFOLD_API tenfold_status tenfold_layers_info(tenfold_layers* layers, int32_t layer, tenfold_layer_info* info);
TENFOLD_API tenfold_status tenfold_layers_set_operand(tenfold_layers* layers, int32_t layer, int32_t index,
                                                      tenfold_layer_operand operand);
TENFOLD_API tenfold_status tenfold_layers_rename(tenfold_layers* layers, int32_t layer, const char* name);
/* Gives a result as a value of the network, which is valid until a layer changes. `count` (may be null) gets how many
 * results the layer has. */
TENFOLD_API tenfold_status tenfold_layers_result(tenfold_layers* layers, int32_t layer, int32_t result, tenfold_value* value,
                                                 int32_t* count);
TENFOLD_API tenfold_status tenfold_layers_rename_result(tenfold_layers* layers, int32_t layer, int32_t result, const char* name);
TENFOLD_API tenfold_status tenfold_layers_mark_output(tenfold_layers* layers, tenfold_layer_operand value, const char* name);
TENFOLD_API tenfold_status tenfold_layers_unmark_output(tenfold_layers* layers, const char* name);
/* 1 if the result is an output, else 0, also if there is no such layer. */
TENFOLD_API int32_t tenfold_layers_is_output(const tenfold_layers* layers, int32_t layer, int32_t result);
/* Makes anew the layers that changed. Call it before a build. */
TENFOLD_API tenfold_status tenfold_layers_finalize(tenfold_layers* layers);

#ifdef __cplusplus
}
#endif
#endif
