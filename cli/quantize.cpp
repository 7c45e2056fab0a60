// tenfold quantize: the user's ONNX file with QuantizeLinear and DequantizeLinear, for any engine that runs such files.
#include <cstdio>
#include <map>
#include <memory>

#include "calibration.h"
#include "console.h"
#include "data.h"
#include "files.h"
#include "model_or_plan.h"
#include "specs.h"
#include "tenfold/quantize_file.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

struct Wish {
  std::string output, data, cache, calibrator;
  std::optional<ImageSpec> image;   // how photographs become the input
  std::optional<std::vector<std::string>> remedies;
  int samples = 200;
  Console console;
  QuantizeOptions options;
  BuildConfig config;
  bool help = false;
};

QuantizeFor reader_named(const std::string& text) {
  static const std::map<std::string, QuantizeFor> readers{
      {"any", QuantizeFor::any}, {"ort", QuantizeFor::onnxruntime}, {"openvino", QuantizeFor::openvino}};
  const auto found = readers.find(text);
  if (found == readers.end()) throw UsageError("--for is any, ort or openvino, not '" + text + "'");
  return found->second;
}

void expect_int8(const std::string& type) {
  if (type == "int8") return;
  if (type == "fp8" || type == "int4" || type == "mixed")
    throw UsageError("--type=" + type + " is not there yet: int8 is the only type that tenfold quantize writes");
  throw UsageError("--type is int8, not '" + type + "'");
}

Flags make_flags(Wish& w) {
  Flags flags("tenfold quantize MODEL --data=PATH -o OUT.onnx [--flags]",
              "Writes MODEL with QuantizeLinear and DequantizeLinear around its products, so that engines compute them in 8 bits. Ranges\n"
              "come from every second sample; the others show the error of what is written. All else in the file stays as it is.");
  flags.group("Flags");
  flags.add_text("o", w.output, "FILE", "the file to write; external data that it goes on using must lie in the same folder");
  flags.add_text("data", w.data, "PATH", "samples: .npz by input name or .npy, first axis: samples; photographs; or a folder of either");
  flags.add({"image", "SPEC", "how photographs become the input, as in tenfold exec: resize:256,crop:224,scale:255,mean:...,std:...",
             [&w](const std::string& text) { w.image = parse_image_spec(text); }});
  flags.add({"samples", "N", "take at most N samples of --data (200)",
             [&w](const std::string& text) { w.samples = parse_int("samples", text, 1); }});
  flags.add({"for", "any|ort|openvino",
             "whose rules: any (default; i8 around zero, as TensorRT takes it), ort (u8 with zero points, i32 biases: ONNX Runtime "
             "computes others in floats), openvino (u8 where nothing is negative, else i8)",
             [&w](const std::string& text) { w.options.reader = reader_named(text); }});
  flags.add({"exclude", "PATTERN", "leave products in floats whose nodes are named so; one * stands for any text (repeatable)",
             [&w](const std::string& text) { w.options.exclude.push_back(text); }});
  flags.add_text("calibrator", w.calibrator, "NAME",
                 "how ranges are taken: auto (the best of them; the default), entropy (with --calib), minmax, mse, percentile");
  flags.add({"remedies", "LIST", "what may lessen the error, kept where it does: equalise,smooth,round,bias (the default), or none",
             [&w](const std::string& text) { w.remedies = parse_remedies(text); }});
  flags.add_text("calib", w.cache, "FILE", "ranges in TensorRT's form: read if FILE exists, else taken from --data and written");
  flags.add({"type", "int8", "what to quantise to; others are not there yet", expect_int8});
  flags.add_switch("externalData", w.options.external_data, "new weights lie in OUT.onnx.data; else only beyond 2 GiB");
  flags.add({"threads", "N", "run samples on N threads; default: what this process may use",
             [&w](const std::string& text) { w.config.threads = parse_int("threads", text, 1, kMostThreads); }});
  add_import_flags(flags, w.config);
  flags.add_switch("help", w.help, "this text");
  flags.refuse("max-error", "a search under a bound on the error is not there yet; --exclude leaves products in floats by name");
  flags.refuse("nbits", "weights of fewer bits (MatMulNBits) are not there yet");
  flags.footer("Exit codes: 3 where no product can be quantised, or nodes stand in the way of opset 13, with what to do.");
  return flags;
}

Calibration calibration_of(const Wish& w, const std::string& model) {
  std::error_code cannot_look;
  Calibration calibration{.sample = {}, .samples = w.samples, .cache = w.cache};
  if (!w.calibrator.empty()) calibration.method = w.calibrator;
  else if (!w.cache.empty()) calibration.method = "entropy";
  if (w.remedies) calibration.remedies = *w.remedies;
  if (w.data.empty()) {
    if (w.cache.empty())
      throw UsageError("--data=PATH is missing: samples show which ranges values have (or --calib=FILE, a cache of them)");
    if (size_of_file(w.cache) < 0) throw UsageError("--calib: there is no '" + w.cache + "'; give --data=PATH, and it is written");
    return calibration;
  }
  const std::shared_ptr<Samples> samples = open_samples({"data", w.data, w.image, model_bindings(model, w.config), w.samples, w.console});
  calibration.sample = [samples](int index) { return samples->at(index); };
  return calibration;
}

std::string names_of(const std::vector<std::string>& nodes) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < kShown; ++i) text += (i ? ", " : "") + printable(nodes[i]);
  return nodes.size() > kShown ? text + ", ..." : text;
}

void print_report(const QuantizeReport& r, const std::string& output) {
  std::printf("%d of %d products have 8 bits in %s\n", r.quantised, r.products, printable(output).c_str());
  for (const QuantizeReport::Left& left : r.left)
    std::printf("  %zu in floats, because %s: %s\n", left.nodes.size(), left.why.c_str(), names_of(left.nodes).c_str());
  std::printf("ranges: %d values by %s, %d samples\n", r.calibration.values, r.calibration.method.c_str(), r.calibration.samples);
  for (const RemedyReport& remedy : r.calibration.remedies)
    std::printf("remedy %s: relative l2 error %.4g before, %.4g after: %s\n", remedy.name.c_str(), remedy.before, remedy.after,
                remedy.kept ? "kept" : "left out");
  for (const OutputError& e : r.calibration.errors)
    std::printf("relative l2 error of '%s', on %d other samples: %.4g\n", printable(e.output).c_str(), r.calibration.compared,
                e.relative_l2);
  if (r.calibration.compared == 0) std::printf("the error is not known: there was no sample beside those that gave the ranges\n");
  if (r.opset_after != r.opset_before) std::printf("opset: %d, was %d\n", r.opset_after, r.opset_before);
  std::printf("bytes: %lld, were %lld\n", static_cast<long long>(r.bytes_after), static_cast<long long>(r.bytes_before));
}

}  // namespace

int quantize_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 1)
    throw UsageError("tenfold quantize takes one model: tenfold quantize m.onnx --data=samples.npz -o m.qdq.onnx");
  if (w.output.empty()) throw UsageError("say where to write the file: -o OUT.onnx");
  if (is_plan(words[0])) throw UsageError("'" + words[0] + "' is a plan: its kernels are chosen already; quantise the model");
  w.config.log = Console{.show_info = false}.callback();
  expect_writable(w.output), expect_writable(w.data.empty() ? "" : w.cache);
  w.config.calibration = calibration_of(w, words[0]);
  print_report(quantize_file(words[0], w.output, w.config, w.options), w.output);
  return kOk;
}

}  // namespace tenfold::cli
