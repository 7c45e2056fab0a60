// Sets of plug-ins in C.
#include "c/run/plugins.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_plugins_create(tenfold_plugin_set** plugins) {
  return guarded(
      [&] { place(plugins, "the place for the plug-ins", [&] { return new tenfold_plugin_set{std::make_shared<Plugins>()}; }); });
}
extern "C" tenfold_status tenfold_plugins_load(tenfold_plugin_set* plugins, const char* path) {
  return guarded([&] { need(plugins, "the set of plug-ins").plugins->load(&need(path, "the path")); });
}
extern "C" tenfold_status tenfold_plugins_add(tenfold_plugin_set* plugins, const tenfold_plugin_operator* plugin) {
  return guarded([&] { need(plugins, "the set of plug-ins").plugins->add(plugin); });
}
extern "C" void tenfold_plugins_free(tenfold_plugin_set* plugins) { delete plugins; }
