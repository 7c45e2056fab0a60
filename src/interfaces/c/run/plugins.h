// The handle of a set of plug-ins in C.
#pragma once

#include "c/run/common.h"
#include "tenfold/c/plugins.h"
#include "tenfold/plugin.h"

struct tenfold_plugin_set {
  std::shared_ptr<tenfold::Plugins> plugins;
};

namespace tenfold::c {

inline std::shared_ptr<const Plugins> plugins_of(const tenfold_plugin_set* set) { return set ? set->plugins : nullptr; }

}  // namespace tenfold::c
