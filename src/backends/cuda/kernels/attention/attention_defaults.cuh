// What specializes attention kernels, with values for editors and the check of syntax.
#pragma once

#define T u16                // queries, keys and values
#define RESULT u16
#define MASK u16
#define LOAD(x) from_f16(x)
#define STORE(x) to_f16(x)
#define LOAD_MASK(x) from_f16(x)
#define BF16 0
#define MMA_BITS 16
#define MMA_E4M3 0
#define VALUE_SCALE 1.f      // of values: results are multiplied by it
#define TF32 0               // f32 is rounded to tf32
#define REAL_SIZE 64         // of a head: of queries and keys, and of values
#define REAL_VALUE 64
#define SIZE 64              // rounded up to 16, and to 8
#define VALUE 64
#define VALUE_STORED 64
#define DEPTH 16             // elements along k of one product
#define KEYS 64              // of a step, or all
#define MASKED 0
#define MASK_ROW 0           // the mask is one row, the same for all queries
#define MASK_TILES 0         // the mask passes through shared memory
#define EXACTLY 0            // there are never fewer keys
#define PACKED 0             // a packed variable-length batch (cu_seqlens): each sequence attends to itself only
#define CAUSAL false
#define ZERO_ROWS 0          // a row that sees no key gives zeros, not NaN
#define SCALE (float)0.125
#define CAPPED 0             // scores have a soft cap: attention_simple.cu only
#define CAP 50.0
#define ONES 0x3c003c00      // two ones of T
#define WARPS 4
#define BOUNDS 32 * WARPS    // of `vectors`
#define PART 64              // keys whose scores are in registers at a time
#define ROW_BLOCKS 1         // of 16 queries, of a warp
#define THREADS 128          // of attention_simple.cu
