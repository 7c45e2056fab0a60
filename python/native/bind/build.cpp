// tenfold/build.h: from models to engines, and what can be asked of a model without a build.
#include "tenfold/build.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/bind/network.h"
#include "native/bytes.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"
#include "tenfold/internal/write_model.h"
#include "tenfold/model_error.h"

namespace tenfold::python {
namespace {

PyEngine as_engine(std::optional<Engine> made) { return {std::make_shared<SharedEngine>(std::move(*made))}; }

// `call` of a model's path or of its bytes.
template <class Call>
auto of_model(nb::handle model, Callbacks& callbacks, Call call) {
  if (is_path(model)) {
    const std::string path = text_of(model);
    return callbacks.run([&] { return call(path); });
  }
  const Bytes bytes(model);
  return callbacks.run([&] { return call(bytes.span()); });
}

PyEngine build_any(nb::handle model, const nb::dict& keywords, BuildReport* report) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "build");
  if (nb::isinstance<PyNetwork>(model)) {
    const PyNetwork& network = nb::cast<PyNetwork&>(model);
    const PyNetwork::Turn turn(network);
    return as_engine(callbacks->run([&] { return std::optional(build(*network.network, config, report)); }));
  }
  if (is_path(model)) {
    const std::string path = text_of(model);
    return as_engine(callbacks->run([&] { return std::optional(build_file(path, config, report)); }));
  }
  const Bytes bytes(model);
  return as_engine(callbacks->run([&] { return std::optional(build_bytes(bytes.span(), config, report)); }));
}

PyEngine load_any(nb::handle plan, const nb::dict& keywords) {
  LoadOptions options;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, options, callbacks, "load");
  if (is_path(plan)) {
    const std::string path = text_of(plan);
    return as_engine(callbacks->run([&] { return std::optional(load_compatible(path, options)); }));
  }
  const Bytes bytes(plan);
  return as_engine(callbacks->run([&] { return std::optional(load_compatible(bytes.span(), options)); }));
}

PyEngine retune_any(nb::handle plan, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "retune");
  if (nb::isinstance<PyEngine>(plan)) {
    const auto state = nb::cast<PyEngine&>(plan).state;
    return as_engine(callbacks->run([&] { return std::optional(retune(state->engine, config)); }));
  }
  const std::string path = text_of(plan);
  return as_engine(callbacks->run([&] { return std::optional(retune_file(path, config)); }));
}

nb::dict weights_of(nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "weights");
  const auto weights = of_model(model, *callbacks, [&](const auto& from) { return read_weights(from, config); });
  nb::dict named;
  for (const auto& [name, tensor] : weights) named[name.c_str()] = array_of(tensor);
  return named;
}

std::vector<BindingInfo> bindings_of(nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "bindings");
  return of_model(model, *callbacks, [&](const auto& from) { return model_bindings(from, config); });
}

std::vector<ModelProblem> problems_of(nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "check");
  return of_model(model, *callbacks, [&](const auto& from) { return check_model(from, config); });
}

std::vector<ExtentLimit> limits_of(nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "extent_limits");
  return of_model(model, *callbacks, [&](const auto& from) { return extent_limits(from, config); });
}

void write_file(nb::handle model, const std::string& output, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "write_model");
  of_model(model, *callbacks, [&](const auto& from) { return write_model(from, output, config), true; });
}

// [(nodes, supported), ...]
nb::list parts_of(nb::handle model, const std::vector<ModelProblem>& problems) {
  const auto callbacks = std::make_shared<Callbacks>();
  nb::list reported;
  for (const ModelPart& part : of_model(model, *callbacks, [&](const auto& from) { return model_parts(from, problems); }))
    reported.append(nb::make_tuple(part.nodes, part.supported));
  return reported;
}

}  // namespace

void bind_build(nb::module_& m) {
  m.def(
      "build", [](nb::object model, nb::dict options) { return build_any(model, options, nullptr); }, nb::arg("model"), nb::arg("options"));
  m.def("load", &load_any, nb::arg("plan"), nb::arg("options"));
  m.def("retune", &retune_any, nb::arg("plan"), nb::arg("options"));
  m.def("weights", &weights_of, nb::arg("model"), nb::arg("options"));
  m.def("model_bindings", &bindings_of, nb::arg("model"), nb::arg("options"));
  m.def("check", &problems_of, nb::arg("model"), nb::arg("options"));
  nb::class_<ExtentLimit>(m, "ExtentLimit", "A dynamic dimension that a model does not serve at every extent.")
      .def_ro("input", &ExtentLimit::input)
      .def_ro("dimension", &ExtentLimit::dimension, "Its name.")
      .def_ro("fits", &ExtentLimit::fits, "Of 1 to 64, all that fit; if one at most does, a few up to 4096.")
      .def_ro("refused", &ExtentLimit::refused, "An extent that does not fit.")
      .def_ro("why", &ExtentLimit::why, "What is wrong then, with the node.")
      .def("__str__", &ExtentLimit::text);
  m.def("write_model", &write_file, nb::arg("model"), nb::arg("output"), nb::arg("options"),
        "A model's file with the values of its initializers that the options give, and all data that lie in other files.");
  m.def("extent_limits", &limits_of, nb::arg("model"), nb::arg("options"));
  m.def("model_parts", &parts_of, nb::arg("model"), nb::arg("problems"),
        nb::sig("def model_parts(model: Any, problems: Sequence[ModelProblem]) -> list[tuple[list[int], bool]]"),
        "Neighbors among a model's nodes that a build would take, or not, given what check() found.");
  m.def(
      "supported_operators",
      [] {
        nb::list reported;
        for (const OperatorInfo& op : supported_operators()) reported.append(nb::make_tuple(op.domain, op.name, op.since));
        return reported;
      },
      nb::sig("def supported_operators() -> list[tuple[str, str, int]]"), "ONNX operators: domain, name, first opset.");
}

}  // namespace tenfold::python
