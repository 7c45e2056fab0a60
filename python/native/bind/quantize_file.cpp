// tenfold/quantize_file.h: ONNX files with Q/DQ, or with weights of few bits.
#include "tenfold/quantize_file.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

template <class Value>
Value named(const char* what, const std::string& name, const std::map<std::string, Value>& values) {
  const auto at = values.find(name);
  if (at != values.end()) return at->second;
  std::string known;
  for (const auto& [each, value] : values) known += (known.empty() ? "'" : ", '") + each + "'";
  throw Error(ErrorKind::invalid_argument, "quantize(): '" + std::string(what) + "' is one of " + known + ", not '" + name + "'");
}

QuantizeReport quantize(const std::string& model, const std::string& output, const nb::dict& keywords, const std::string& type,
                        const std::string& reader, std::int64_t group, bool reduce_range, bool external_data,
                        std::vector<std::string> exclude) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "quantize");
  QuantizeOptions options{.exclude = std::move(exclude), .external_data = external_data};
  options.type = named<QuantizeType>("type", type,
                                     {{"int8", QuantizeType::int8},
                                      {"fp8", QuantizeType::fp8},
                                      {"int4", QuantizeType::int4},
                                      {"nbits4", QuantizeType::nbits4},
                                      {"nbits8", QuantizeType::nbits8}});
  options.reader = named<QuantizeFor>(
      "reader", reader, {{"any", QuantizeFor::any}, {"onnxruntime", QuantizeFor::onnxruntime}, {"openvino", QuantizeFor::openvino}});
  options.group = group, options.reduce_range = reduce_range;
  return callbacks->run([&] { return quantize_file(model, output, config, options); });
}

std::map<std::string, double> errors_of(const QuantizeReport& r) {
  std::map<std::string, double> errors;
  for (const OutputError& e : r.calibration.errors) errors[e.output] = e.relative_l2;
  return errors;
}
std::vector<std::pair<std::string, std::vector<std::string>>> left_of(const QuantizeReport& r) {
  std::vector<std::pair<std::string, std::vector<std::string>>> left;
  for (const QuantizeReport::Left& one : r.left) left.emplace_back(one.why, one.nodes);
  return left;
}

}  // namespace

void bind_quantize_file(nb::module_& m) {
  nb::class_<QuantizeReport>(m, "QuantizeReport", "What quantize() did.")
      .def_ro("layers", &QuantizeReport::layers, "GEMMs and convolutions of the model.")
      .def_ro("quantized", &QuantizeReport::quantized, "How many of them are narrower in the file.")
      .def_prop_ro("left", &left_of, "(why, names of nodes) of products that stay in floats.")
      .def_prop_ro(
          "method", [](const QuantizeReport& r) { return r.calibration.method; }, "How ranges were taken, or weights rounded.")
      .def_prop_ro(
          "samples", [](const QuantizeReport& r) { return r.calibration.samples; },
          "Samples that gave ranges, or by which weights were rounded.")
      .def_prop_ro(
          "compared", [](const QuantizeReport& r) { return r.calibration.compared; }, "Other samples, on which the errors were measured.")
      .def_prop_ro("errors", &errors_of, "The relative l2 error of each output, of the file that was written.")
      .def_ro("bytes_before", &QuantizeReport::bytes_before)
      .def_ro("bytes_after", &QuantizeReport::bytes_after)
      .def_ro("opset_before", &QuantizeReport::opset_before)
      .def_ro("opset_after", &QuantizeReport::opset_after)
      .def("__repr__", [](const QuantizeReport& r) {
        return "<tenfold.QuantizeReport: " + std::to_string(r.quantized) + " of " + std::to_string(r.layers) + " layers>";
      });
  m.def("quantize_file", &quantize, nb::arg("model"), nb::arg("output"), nb::arg("options"), nb::arg("type"), nb::arg("reader"),
        nb::arg("group"), nb::arg("reduce_range"), nb::arg("external_data"), nb::arg("exclude"));
}

}  // namespace tenfold::python
