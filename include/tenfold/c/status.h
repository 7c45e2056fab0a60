/* Status codes, their names, and the text of the last failure. */
#ifndef TENFOLD_C_STATUS_H
#define TENFOLD_C_STATUS_H

#include <stdint.h>
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t tenfold_status;
enum {
  TENFOLD_OK = 0,
  /* Failures while a model is built, loaded or asked for something: tenfold::ErrorKind + 1. */
  TENFOLD_INVALID_ARGUMENT = 1,  /* the caller passed a wrong shape, name or pointer */
  TENFOLD_INVALID_MODEL = 2,     /* the model breaks the ONNX standard or contradicts itself */
  TENFOLD_UNSUPPORTED = 3,       /* the model is legal, but Tenfold has no implementation */
  TENFOLD_OUT_OF_MEMORY = 4,
  TENFOLD_PLAN_REFUSED = 5,      /* the plan is damaged, of another version, or for another machine */
  TENFOLD_IO = 6,                /* a file could not be read or written */
  TENFOLD_DEVICE = 7,            /* the device failed */
  TENFOLD_CANCELLED = 8,         /* a callback or the caller asked to stop */
  TENFOLD_INTERNAL = 9,          /* a bug in Tenfold */
  /* Failures of a context, while shapes are set, memory is bound, and it runs: 100 + tenfold::Status::Code. */
  TENFOLD_RUN_NOT_READY = 101,       /* an input is not bound or has no shape yet */
  TENFOLD_RUN_INVALID_SHAPE = 102,   /* a shape is outside the profile or disagrees with another */
  TENFOLD_RUN_INVALID_BINDING = 103, /* null or overlapping memory */
  TENFOLD_RUN_BAD_INDEX = 104,       /* an index in the data lay outside a tensor */
  TENFOLD_RUN_TOO_LARGE = 105,       /* a size that depends on data is above its bound */
  TENFOLD_RUN_OUT_OF_MEMORY = 106,
  TENFOLD_RUN_CANCELLED = 107,
  TENFOLD_RUN_DEVICE = 108,
  TENFOLD_RUN_FAILED = 109,          /* a kernel failed, whatever its data are; the text says which step */
  TENFOLD_RUN_DEADLINE = 110,        /* the run's deadline passed before its last step */
  TENFOLD_RUN_INVALID_INPUT = 111    /* a value in the data that the step cannot compute with; the text says which */
};
/* The name of the constant without its prefix, in small letters: "invalid_argument", "not_ready". Codes of both groups
 * may share a name ("cancelled"). It is never null. */
TENFOLD_API const char* tenfold_status_name(tenfold_status status);
/* The text of this thread's last call that failed. It is never null, and valid until the next call that fails. */
TENFOLD_API const char* tenfold_last_error(void);
TENFOLD_API const char* tenfold_version(void);

#ifdef __cplusplus
}
#endif
#endif
