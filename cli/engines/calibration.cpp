// --int8 with --data: which samples give ranges, and which check.
#include "engines/calibration.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "flags/specs.h"
#include "formats/arrays/npz.h"
#include "formats/files.h"
#include "tenfold/internal/file.h"

namespace tenfold::cli {
namespace {

void dump_samples(const std::string& path, formats::Samples& samples, int max_samples) {
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (auto& [input, tensor] : formats::join_samples(samples, max_samples, "--dumpSamples")) arrays.emplace_back(input, tensor);
  write_file(path, formats::to_npz(arrays));
}

void expect_data(const ExecOptions& o) {
  if (!o.data.empty()) return;
  const std::pair<bool, const char*> needs[] = {
      {!o.calibrator.empty(), "--calibrator needs --data: it makes ranges of what samples show"},
      {o.image.has_value(), "--image needs --data=FOLDER: it says how photographs become the model's input"},
      {o.corrections.has_value(), "--corrections needs --data: samples show what lessens the error"},
      {!o.check_data.empty(), "--checkData needs --data: it takes the place of every second of its samples"},
      {!o.labels.empty(), "--labels needs --data: it says which class each sample belongs to"},
      {!o.dump_samples.empty(), "--dumpSamples needs --data: it writes them as the model gets them"}};
  for (const auto& [given, why] : needs)
    if (given) throw UsageError(why);
}

void note_unused_shapes(ExecOptions& o) {
  const auto note = [&](const char* flag, bool given) {
    if (given && o.data.empty())
      o.notes.push_back(std::string("--") + flag + " has no effect without --data: it says which shapes samples have");
  };
  note("calibProfile", o.calibration_profile.has_value());
  const ExecOptions::Ranges& shapes = o.calibration_shapes;
  note("minShapesCalib", !shapes.min.empty()), note("optShapesCalib", !shapes.opt.empty()), note("maxShapesCalib", !shapes.max.empty());
}

// Without --max-error all layers have the first. --best asks for e4m3 only where an error bound watches over it. Where neither is asked
// for, samples show errors alone.
std::vector<DType> types_of(const ExecOptions& o) {
  std::vector<DType> types;
  if (o.int8_requested) types.push_back(DType::i8);
  if (o.fp8_requested || (o.best && o.build.budget)) types.push_back(DType::f8e4m3fn);
  return types;
}

}  // namespace

void add_int8_flag(Flags& f, ExecOptions& o) {
  f.add(
      {"int8", "",
       "enable INT8: on by default for models with INT8 Q/DQ; other models are calibrated on --data; without samples: dynamic row-wise "
       "quantization of GEMMs",
       [&o](const std::string&) { o.build.int8 = o.int8_requested = true; }});
}

void add_calibration_flags(Flags& f, ExecOptions& o) {
  f.add_text(
      "data", o.data, "PATH",
      "calibration samples: .npz by input name or .npy, one sample per index of the first axis; JPEG or PNG; a folder of either; .txt, "
      ".csv:COLUMN");
  f.add_text("tokenizer", o.tokenizer, "FILE", "+the tokenizer.json of texts in --data, or a folder that holds it");
  f.add({"image", "SPEC",
         "preprocessing of photographs: resize:256,crop:224,scale:255,mean:0.485/0.456/0.406,std:0.229/0.224/0.225,layout:nchw,order:rgb; "
         "defaults follow from the input",
         [&o](const std::string& text) { o.image = formats::parse_image_spec(text, "--image"); }});
  f.add({"samples", "N", "+use at most N samples of --data (100): every second one for ranges, the others to measure the plan's error",
         [&o](const std::string& text) { o.samples = parse_int("samples", text, 1); }});
  f.add_text("checkData", o.check_data, "PATH", "+N samples to measure the plan's error; all N of --data are then used for ranges");
  f.add_text("labels", o.labels, "FILE",
             "+the class of each sample, a line with NUMBER or FILE NUMBER: the build reports the accuracy of the plan and of the f32 "
             "model");
  f.add_text("dumpSamples", o.dump_samples, "FILE", "+write the preprocessed samples of --data as .npz, which --data accepts");
  f.add_text("calib", o.calibration_cache, "FILE",
             "+calibration cache in TensorRT's format: read if FILE exists, else calibrated on --data and written");
  f.add_text("calibrator", o.calibrator, "NAME",
             "+calibrator of --int8: auto (the best of them; default), entropy (default with --calib), minmax, mse, percentile; dynamic: "
             "no calibration, rows are quantized at run time");
  f.add({"calibProfile", "N", "+samples have the shapes of profile N (0), see --profile",
         [&o](const std::string& text) { o.calibration_profile = parse_int("calibProfile", text, 0); }});
  const std::pair<const char*, std::map<std::string, Shape> ExecOptions::Ranges::*> shapes[] = {
      {"minShapesCalib", &ExecOptions::Ranges::min},
      {"optShapesCalib", &ExecOptions::Ranges::opt},
      {"maxShapesCalib", &ExecOptions::Ranges::max}};
  for (const auto& [name, field] : shapes)
    f.add({name, "SHAPES", "+shapes of samples, where they differ from the profile's",
           [&o, name = name, field = field](const std::string& text) { o.calibration_shapes.*field = parse_shapes(name, text); }});
  f.add({"corrections", "LIST",
         "+corrections of --int8 to try: equalize,smooth,round,bias (default), or none; each is kept if it reduces the error",
         [&o](const std::string& text) { o.corrections = parse_corrections(text); }});
}

std::vector<std::string> parse_corrections(const std::string& text) {
  if (text == "none") return {};
  std::vector<std::string> names = split(text, ',');
  for (const std::string& name : names)
    if (name.empty())
      throw UsageError("--corrections is none, or names with commas between them (equalize,smooth,round,bias), not '" + text + "'");
  return names;
}

void check_calibration(ExecOptions& o) {
  if (!o.calibration_cache.empty()) {
    if (o.onnx.empty()) throw UsageError("--calib needs --onnx: a plan's ranges are fixed when it is built");
    if (!o.int8_requested && !o.fp8_requested)
      throw UsageError("--calib gives ranges for int8, which no flag enables: add --int8 (or --fp8, --best)");
    std::error_code cannot_look;
    if (o.data.empty() && !std::filesystem::exists(o.calibration_cache, cannot_look))
      throw UsageError("--calib: '" + o.calibration_cache + "' does not exist; --data=PATH creates it");
    formats::expect_writable(o.data.empty() ? "" : o.calibration_cache);
  }
  expect_data(o);
  if (!o.tokenizer.empty() && !is_text(o.data))
    throw UsageError("--tokenizer is for texts: say which with --data=FILE.txt or --data=FILE.csv:COLUMN");
  note_unused_shapes(o);
  if (o.data.empty()) return;
  if (o.onnx.empty()) throw UsageError("--data needs --onnx: a plan's ranges are fixed when it is built");
  if (!o.int8_requested && !o.fp8_requested && !o.build.budget)
    throw UsageError(
        "--data gives samples for calibration or for an error budget, and no flag asks for either: add --int8 "
        "(--fp8, --best), or --max-error=E, which also bounds --bf16 and --fp16");
  if (!o.dump_samples.empty() && formats::extension(o.dump_samples) != ".npz")
    throw UsageError("--dumpSamples writes .npz; '" + o.dump_samples + "' ends in something else");
  formats::expect_writable(o.dump_samples);
}

CalibrationData::CalibrationData(const ExecOptions& o, const BuildConfig& config) : max_samples_(o.samples) {
  if (o.data.empty()) return;
  bindings_ = model_bindings(o.onnx, config);
  SampleSource source{"data", o.data, o.image, bindings_, o.samples, o.console, o.tokenizer};
  data_ = open_samples(source);
  if (!o.check_data.empty()) source.flag = "checkData", source.path = o.check_data, check_ = open_samples(source);
  if (!o.dump_samples.empty()) dump_samples(o.dump_samples, *data_, o.samples);
}

Calibration CalibrationData::calibration(const ExecOptions& o) const {
  Calibration calibration{.sample = {}, .samples = o.samples, .cache = o.calibration_cache};
  if (!o.calibrator.empty())
    calibration.method = o.calibrator;
  else if (!o.calibration_cache.empty())
    calibration.method = "entropy";
  if (o.corrections) calibration.corrections = *o.corrections;
  calibration.types = types_of(o), calibration.profile = o.calibration_profile.value_or(0);
  calibration.shapes = profile_of(o.calibration_shapes);
  if (data_) calibration.sample = [data = data_](int index) { return data->at(index); };
  if (check_) {  // the build takes ranges from even numbers and checks on odd ones
    calibration.samples = 2 * std::min(o.samples, std::numeric_limits<int>::max() / 2);
    calibration.sample = [data = data_, check = check_](int index) { return (index % 2 ? check : data)->at(index / 2); };
  }
  return calibration;
}

std::vector<OptimizationProfile> CalibrationData::profiles(const ExecOptions& o) const {
  if (!data_ || data_->origins(0).empty()) return {};
  const InputSet first = data_->at(0).value();
  std::vector<OptimizationProfile> one(1);
  for (const BindingInfo& b : bindings_) {
    const auto at = first.find(b.name);
    if (!b.is_input || at == first.end() || std::count(b.shape.begin() + 1, b.shape.end(), -1) == 0) continue;
    const Shape& shape = at->second.shape();
    one[0][b.name] = {shape, shape, shape};
    o.console.warn("input '" + b.name + "' has dynamic sides and no profile: it is built for " + text(shape) +
                   ", as photographs become (--minShapes, --optShapes and --maxShapes say otherwise)");
  }
  return one[0].empty() ? std::vector<OptimizationProfile>{} : one;
}

}  // namespace tenfold::cli
