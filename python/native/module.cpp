// tenfold._native: the public headers as Python sees them. Names, argument forms and lifetimes are python/tenfold's.
#include <nanobind/stl/string_view.h>

#include "native/call/async_runs.h"
#include "native/native.h"
#include "native/python_state.h"
#include "tenfold/version.h"

NB_MODULE(_native, m) {
  using namespace tenfold::python;
  // Plans, libraries and modules are taken down in any order at the interpreter's end; nothing is lost then that a process keeps.
  nb::set_leak_warnings(false);
  m.attr("__version__") = tenfold::version();
  m.def(
      "leave",
      [] {
        end_tuning();
        finish_runs();
        begin_leaving();
      },
      "The interpreter ends: runs that are under way are told, then callbacks are not called any more.");
  wait_at_the_end();
  m.def(
      "forget_runs",
      [] {
        forget_runs();
        forget_threads();
      },
      "In a fork: runs that are under way, and threads, are the parent's.");
  bind_error(m);
  bind_options(m);
  bind_device(m);
  bind_device_array(m);
  bind_pinned_memory(m);
  bind_stream(m);
  bind_plugin(m);
  bind_runtime(m);
  bind_timing_cache(m);
  bind_tokenizer(m);
  bind_torch_watch(m);
  bind_inspect(m);
  bind_engine(m);
  bind_context(m);
  bind_model_metadata(m);
  bind_network(m);
  bind_layers(m);
  bind_build(m);
  bind_quantize_file(m);
  bind_plan_cache(m);
  bind_model_engines(m);
  bind_encoder(m);
  bind_decoder(m);
  bind_imaging(m);
  bind_low_latency(m);
}
