/* Messages for the user. The library never prints: it calls a function of the caller's. */
#ifndef TENFOLD_C_LOG_H
#define TENFOLD_C_LOG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TENFOLD_LOG_VERBOSE = 0, TENFOLD_LOG_INFO = 1, TENFOLD_LOG_WARNING = 2, TENFOLD_LOG_ERROR = 3 };
/* It may be called from any thread. The text is valid during the call. */
typedef void (*tenfold_log_function)(void* user, int32_t severity, const char* message);

#ifdef __cplusplus
}
#endif
#endif
