#include "builder/open_built.h"

#include "base/log.h"
#include "builder/rebuild/load_options.h"
#include "runtime/engine/notes.h"
#include "runtime/engine/open.h"
#include "tune/timing/code_cache.h"

namespace tenfold::builder {

Engine open_built(plan::Plan plan, const BuildConfig& config, std::shared_ptr<backends::Backend> backend) {
  backends::Backend& device = *backend;
  Engine engine = runtime::engine_of(runtime::open_engine(std::move(plan), load_options(config), std::move(backend)));
  runtime::log_notes(engine.info().notes, config.log);
  // Now, for opening compiles too: what the tuner took from its cache without timing.
  if (backends::CodeStore* code = device.code())
    tune::save_code(tune::code_cache_path(config.timing_cache), code->used(), Log(config.log));
  return engine;
}

}  // namespace tenfold::builder
