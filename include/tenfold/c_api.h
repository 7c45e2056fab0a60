/* Tenfold in C: build, save, load and run models through opaque handles. It compiles as C99 and as C++.
 *
 * Every function that can fail returns a tenfold_status. tenfold_last_error() gives the text of the last failure in
 * this thread. Each kind of handle has its own *_free, which accepts null. Threads may share engines. Networks and
 * contexts are used by one thread at a time. A struct begins with struct_size, which the caller sets to sizeof(the
 * struct). Fields that were added later are taken as zero from older callers, and zero means the default. Indices of
 * bindings count inputs first, then outputs. A pointer that a function gives lives as long as the handle it came from.
 *
 * This is the one header to include; each header below holds one subject. Functions that build are in the library
 * tenfold-builder, those of sliding windows in tenfold-imaging, those of decoders in tenfold-text, all others in
 * tenfold. */
#ifndef TENFOLD_C_API_H
#define TENFOLD_C_API_H

#include "tenfold/c/bindings.h"
#include "tenfold/c/build.h" /* tenfold-builder */
#include "tenfold/c/context.h"
#include "tenfold/c/data.h"
#include "tenfold/c/decoder.h" /* tenfold-text */
#include "tenfold/c/device.h"
#include "tenfold/c/device_array.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/inspect.h"
#include "tenfold/c/fallback_chain.h"
#include "tenfold/c/latency.h"
#include "tenfold/c/layers.h" /* tenfold-builder */
#include "tenfold/c/log.h"
#include "tenfold/c/low_latency.h"
#include "tenfold/c/model_engines.h"  /* tenfold-builder */
#include "tenfold/c/model_error.h"    /* tenfold-builder */
#include "tenfold/c/model_metadata.h" /* tenfold-builder */
#include "tenfold/c/network.h"        /* tenfold-builder */
#include "tenfold/c/pinned_memory.h"
#include "tenfold/c/plan_cache.h"
#include "tenfold/c/plugins.h"
#include "tenfold/c/profile.h"
#include "tenfold/c/quantize.h" /* tenfold-builder */
#include "tenfold/c/quantize_decoder.h" /* tenfold-text */
#include "tenfold/c/quantize_file.h" /* tenfold-builder */
#include "tenfold/c/report.h"   /* tenfold-builder */
#include "tenfold/c/run.h"
#include "tenfold/c/runtime.h"
#include "tenfold/c/sliding_window.h" /* tenfold-imaging */
#include "tenfold/c/status.h"
#include "tenfold/c/timing_cache.h" /* tenfold-builder */
#include "tenfold/c/types.h"
#include "tenfold/c/values.h"

#endif
