#include "calibration.h"

#include <filesystem>

#include "data.h"
#include "files.h"

namespace tenfold::cli {

void add_calibration_flags(Flags& f, ExecOptions& o) {
  f.add({"int8", "", "permission for integer products: of a quantised model (on by default), and with --data of any model",
         [&o](const std::string&) { o.build.int8 = o.int8_asked = true; }});
  f.add_text("data", o.data, "PATH", "samples for --int8: .npz by input name or .npy, first axis: samples; or a folder of them");
  f.add({"samples", "N", "+run at most N samples of --data (200): every second one gives ranges, the others show the plan's error",
         [&o](const std::string& text) { o.samples = parse_int("samples", text, 1); }});
  f.add_text("calib", o.calibration_cache, "FILE",
             "ranges for --int8 in TensorRT's form: read if FILE exists, else taken from --data and written");
  f.add_text("calibrator", o.calibrator, "NAME",
             "+how --int8 takes ranges from --data: auto (the best of them; the default), entropy (with --calib), minmax, mse, percentile");
}

void check_calibration(ExecOptions& o) {
  if (!o.calibration_cache.empty()) {
    if (o.onnx.empty()) throw UsageError("--calib needs --onnx: a plan's ranges are fixed when it is built");
    if (!o.int8_asked) throw UsageError("--calib is for --int8 (or --best): say one of them");
    std::error_code cannot_look;
    if (o.data.empty() && !std::filesystem::exists(o.calibration_cache, cannot_look))
      throw UsageError("--calib: there is no '" + o.calibration_cache + "'; give --data=PATH, and it is written");
    expect_writable(o.data.empty() ? "" : o.calibration_cache);
  }
  if (o.data.empty() && !o.calibrator.empty()) throw UsageError("--calibrator needs --data: it makes ranges of what samples show");
  if (o.data.empty()) return;
  if (o.onnx.empty()) throw UsageError("--data needs --onnx: a plan's ranges are fixed when it is built");
  if (!o.int8_asked && !o.build.budget) throw UsageError("--data is for --int8 (or --best) and --max-error: say one of them");
}

Calibration calibration_of(const ExecOptions& o, const BuildConfig& config) {
  Calibration calibration{.sample = {}, .samples = o.samples, .cache = o.calibration_cache};
  if (!o.calibrator.empty()) calibration.method = o.calibrator;
  else if (!o.calibration_cache.empty()) calibration.method = "entropy";
  if (o.data.empty()) return calibration;
  const auto samples = std::make_shared<Samples>(o.data, model_bindings(o.onnx, config));
  calibration.sample = [samples](int index) { return samples->at(index); };
  return calibration;
}

}  // namespace tenfold::cli
