/* Plug-ins: operators from outside Tenfold, given as tables of plugin_abi.h or by libraries. */
#ifndef TENFOLD_C_PLUGINS_H
#define TENFOLD_C_PLUGINS_H

#include "tenfold/export.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/plugin_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of plug-ins. One thread fills it first, and then gives it to configurations, load options and networks, as
 * their `plugins`. Whatever uses a set keeps it, so the set may be freed as soon as the last of these calls has
 * returned. */
TENFOLD_API tenfold_status tenfold_plugins_create(tenfold_plugin_set** plugins);
/* Adds all operators of a library. A path without `/` is a file of the working folder. */
TENFOLD_API tenfold_status tenfold_plugins_load(tenfold_plugin_set* plugins, const char* path);
/* Adds one operator. Its release() is called when nothing uses the operator any more, and when it is refused. */
TENFOLD_API tenfold_status tenfold_plugins_add(tenfold_plugin_set* plugins, const tenfold_plugin_operator* plugin);
TENFOLD_API void tenfold_plugins_free(tenfold_plugin_set* plugins);

#ifdef __cplusplus
}
#endif
#endif
