// Calibrations from C: the samples that a function gives, and what the build tells of them.
#include "tenfold/c/quantize.h"

#include "c/build/builder.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_sample {
  InputSet inputs;
};

extern "C" tenfold_status tenfold_sample_set(tenfold_sample* sample, const char* input, const tenfold_data* data) {
  return guarded([&] { need(sample, "the sample").inputs[&need(input, "the input's name")] = need(data, "the data").value.tensor(); });
}

Calibration tenfold::c::calibration_of(const tenfold_calibration* given) {
  const tenfold_calibration c = taken(given, "the calibration");
  Calibration calibration;
  if (c.sample)
    calibration.sample = [sample = c.sample, user = c.sample_user](int index) -> std::optional<InputSet> {
      tenfold_sample one;
      const std::int32_t answer = sample(user, index, &one);
      if (answer < 0) fail(ErrorKind::cancelled, "the calibration's function ended the build");
      return answer == 0 ? std::nullopt : std::optional(std::move(one.inputs));
    };
  if (c.samples != 0) calibration.samples = c.samples;
  if (c.method) calibration.method = c.method;
  if (c.cache) calibration.cache = c.cache;
  if (c.correction_count != 0) calibration.corrections.clear();
  if (c.correction_count > 0) need(c.corrections, "the calibration's corrections");
  for (std::int32_t i = 0; i < c.correction_count; ++i)
    calibration.corrections.emplace_back(&need(c.corrections[i], "a correction's name"));
  calibration.profile = c.profile;
  if (c.type_count != 0) calibration.types.clear();
  if (c.type_count > 0) need(c.types, "the calibration's types");
  for (std::int32_t i = 0; i < c.type_count; ++i) calibration.types.push_back(dtype_of(&need(c.types[i], "a type's name")));
  for (const tenfold_range& r : ranges_of(c.shapes, c.shape_count)) calibration.shapes[&need(r.input, "a range's input")] = shapes_of(r);
  return calibration;
}

namespace {
const CalibrationReport& calibration_report(const tenfold_report* report) {
  return part_of(report, &BuildReport::calibration, "calibration");
}
}  // namespace

extern "C" tenfold_status tenfold_report_calibration(const tenfold_report* report, tenfold_calibration_info* info) {
  return guarded([&] {
    const CalibrationReport& r = calibration_report(report);
    give(info,
         {0, r.method.c_str(), r.samples, r.values, r.compared, static_cast<std::int32_t>(r.without_range.size()),
          static_cast<std::int32_t>(r.errors.size()), r.seconds, static_cast<std::int32_t>(r.corrections.size()), 0},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_report_without_range(const tenfold_report* report, int32_t index, const char** value) {
  return guarded([&] {
    need(value, "the place for the value's name") = element(calibration_report(report).without_range, index, "value").c_str();
  });
}
extern "C" tenfold_status tenfold_report_correction(const tenfold_report* report, int32_t index, tenfold_correction* correction) {
  return guarded([&] {
    const CorrectionReport& r = element(calibration_report(report).corrections, index, "correction");
    give(correction, {0, r.name.c_str(), r.before, r.after, r.kept ? 1 : 0, 0}, "the place for the correction");
  });
}
extern "C" tenfold_status tenfold_report_output_error(const tenfold_report* report, int32_t index, const char** output,
                                                      double* relative_l2) {
  return guarded([&] {
    const OutputError& e = element(calibration_report(report).errors, index, "error");
    need(output, "the place for the output's name") = e.output.c_str();
    need(relative_l2, "the place for the error") = e.relative_l2;
  });
}
