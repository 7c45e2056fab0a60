// Quantized ONNX files from C.
#include "tenfold/c/quantize_file.h"

#include "c/build/builder.h"
#include "tenfold/quantize_file.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_quantize_report {
  QuantizeReport report;
};

namespace {

template <class Enum>
Enum one_of(std::int32_t value, Enum last, const char* what) {
  require(value >= 0 && value <= static_cast<std::int32_t>(last), ErrorKind::invalid_argument, what, " is ", value, ", expected 0 to ",
          static_cast<std::int32_t>(last));
  return static_cast<Enum>(value);
}

}  // namespace

QuantizeOptions tenfold::c::quantize_options_of(const tenfold_quantize_options* given) {
  QuantizeOptions options;
  if (!given) return options;
  static_assert(static_cast<int>(QuantizeFor::openvino) == TENFOLD_QUANTIZE_FOR_OPENVINO);
  static_assert(static_cast<int>(QuantizeType::nbits8) == TENFOLD_QUANTIZE_NBITS8);
  const tenfold_quantize_options c = taken(given, "the options");
  options.reader = one_of(c.reader, QuantizeFor::openvino, "reader"), options.type = one_of(c.type, QuantizeType::nbits8, "type");
  if (c.group != 0) options.group = c.group;
  options.reduce_range = c.reduce_range != 0, options.external_data = c.external_data != 0;
  if (c.exclude_count > 0) need(c.exclude, "exclude");
  for (std::int32_t i = 0; i < c.exclude_count; ++i) options.exclude.emplace_back(&need(c.exclude[i], "a pattern to exclude"));
  return options;
}

extern "C" tenfold_status tenfold_quantize_file(const char* model, const char* output, const tenfold_build_config* config,
                                                const tenfold_quantize_options* options, tenfold_quantize_report** report) {
  return guarded([&] {
    if (report) *report = nullptr;
    BuildReport* const build = report_of(config);
    QuantizeReport reported = quantize_file(&need(model, "the model's path"), &need(output, "the output's path"), config_of(config),
                                        quantize_options_of(options));
    if (build) build->calibration = reported.calibration, build->budget = reported.budget;
    if (report) *report = new tenfold_quantize_report{std::move(reported)};
  });
}
extern "C" void tenfold_quantize_report_free(tenfold_quantize_report* report) { delete report; }

extern "C" tenfold_status tenfold_quantize_report_info(const tenfold_quantize_report* report, tenfold_quantize_info* info) {
  return guarded([&] {
    const QuantizeReport& r = need(report, "the report").report;
    give(info,
         {0, r.layers, r.quantized, static_cast<std::int32_t>(r.left.size()), r.opset_before, r.opset_after, 0, r.bytes_before,
          r.bytes_after},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_quantize_report_left(const tenfold_quantize_report* report, int32_t index, const char** why,
                                                       int32_t* nodes) {
  return guarded([&] {
    const QuantizeReport::Left& left = element(need(report, "the report").report.left, index, "reason");
    need(why, "the place for the reason") = left.why.c_str();
    need(nodes, "the place for the number of nodes") = static_cast<std::int32_t>(left.nodes.size());
  });
}
extern "C" tenfold_status tenfold_quantize_report_left_node(const tenfold_quantize_report* report, int32_t index, int32_t node,
                                                            const char** name) {
  return guarded([&] {
    const QuantizeReport::Left& left = element(need(report, "the report").report.left, index, "reason");
    need(name, "the place for the name") = element(left.nodes, node, "node").c_str();
  });
}
