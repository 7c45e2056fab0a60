// What the files of the extension share: one function for each of them, and one for each public header that they bring to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tenfold::python {

namespace nb = nanobind;

void bind_build(nb::module_& m);
void bind_context(nb::module_& m);
void bind_decoder(nb::module_& m);
void bind_device(nb::module_& m);
void bind_device_array(nb::module_& m);
void bind_pinned_memory(nb::module_& m);
void bind_encoder(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_error(nb::module_& m);
void bind_imaging(nb::module_& m);
void bind_inspect(nb::module_& m);
void bind_layers(nb::module_& m);
void bind_low_latency(nb::module_& m);
void bind_model_engines(nb::module_& m);
void bind_model_metadata(nb::module_& m);
void bind_network(nb::module_& m);
void bind_options(nb::module_& m);
void bind_plan_cache(nb::module_& m);
void bind_plugin(nb::module_& m);
void bind_quantize_file(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_timing_cache(nb::module_& m);
void bind_tokenizer(nb::module_& m);
void bind_torch_watch(nb::module_& m);

void end_tuning();   // in the background, of all sessions; for good

}  // namespace tenfold::python
