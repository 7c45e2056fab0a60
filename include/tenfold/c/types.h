/* The handles of the C interface. */
#ifndef TENFOLD_C_TYPES_H
#define TENFOLD_C_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_network tenfold_network;
typedef struct tenfold_engine tenfold_engine;
typedef struct tenfold_context tenfold_context;
typedef struct tenfold_data tenfold_data;
typedef struct tenfold_devices tenfold_devices;
typedef struct tenfold_inspection tenfold_inspection;
typedef struct tenfold_fallback_chain tenfold_fallback_chain;
typedef struct tenfold_model tenfold_model;
typedef struct tenfold_plan_cache tenfold_plan_cache;
typedef struct tenfold_problems tenfold_problems;
typedef struct tenfold_report tenfold_report;
typedef struct tenfold_runtime tenfold_runtime;
typedef struct tenfold_timing_cache tenfold_timing_cache;
typedef struct tenfold_weights tenfold_weights;
typedef struct tenfold_plugin_set tenfold_plugin_set;   /* tenfold/c/plugins.h */
typedef int32_t tenfold_value; /* a value of one network; -1: an optional operand that is left out */

/* Functions take element types by name: "f32", "f16", "bf16", "f64", "i64", "i32", "i8", "u8", "bool" ... */

#ifdef __cplusplus
}
#endif
#endif
