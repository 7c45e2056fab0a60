/* Tenfold in C: build, save, load and run models through opaque handles. Compiles as C99 and as C++.
 *
 * Every function that can fail returns a tenfold_status; text of the last failure in this thread: tenfold_last_error(). Handles are freed
 * by their own *_free (null is allowed). Engines may be shared by threads; networks and contexts are used by one thread at a time.
 * Structs start with struct_size = sizeof(the struct): fields added later are taken as zero from older callers, and zero means the default.
 * Indices of bindings: inputs first, then outputs. Pointers handed out live as long as the handle they came from.
 *
 * This is the one include; each header below holds one subject. What builds is in the library tenfold-builder, all else in tenfold. */
#ifndef TENFOLD_C_API_H
#define TENFOLD_C_API_H

#include "tenfold/c/bindings.h"
#include "tenfold/c/build.h" /* tenfold-builder */
#include "tenfold/c/context.h"
#include "tenfold/c/data.h"
#include "tenfold/c/device.h"
#include "tenfold/c/device_array.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/inspect.h"
#include "tenfold/c/ladder.h"
#include "tenfold/c/layers.h" /* tenfold-builder */
#include "tenfold/c/log.h"
#include "tenfold/c/model_engines.h"  /* tenfold-builder */
#include "tenfold/c/model_error.h"    /* tenfold-builder */
#include "tenfold/c/model_metadata.h" /* tenfold-builder */
#include "tenfold/c/network.h"        /* tenfold-builder */
#include "tenfold/c/plan_cache.h"
#include "tenfold/c/plugins.h"
#include "tenfold/c/profile.h"
#include "tenfold/c/report.h" /* tenfold-builder */
#include "tenfold/c/run.h"
#include "tenfold/c/runtime.h"
#include "tenfold/c/status.h"
#include "tenfold/c/timing_cache.h" /* tenfold-builder */
#include "tenfold/c/types.h"
#include "tenfold/c/values.h"

#endif
