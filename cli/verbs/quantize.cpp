// tenfold quantize: the user's ONNX file with QuantizeLinear and DequantizeLinear, or with weights of few bits, for any engine that runs
// such files.
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "console.h"
#include "data/data.h"
#include "engines/budget.h"
#include "engines/calibration.h"
#include "flags/specs.h"
#include "formats/files.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "verbs/quantize_folder.h"
#include "tenfold/quantize_file.h"

namespace tenfold::cli {
namespace {

struct Wish {
  std::string output, data, tokenizer, cache, calibrator;
  FolderWish folder;                // of a decoder
  std::optional<formats::ImageSpec> image;   // how photographs become the input
  std::optional<std::vector<std::string>> corrections;
  int samples = 0;                  // 0: nobody said how many
  Console console;
  QuantizeOptions options;
  BuildConfig config;
  ExecOptions budget;               // of it, what the flags of a budget set
  bool mixed = false, type_given = false, nbits_given = false, group_given = false;
  bool help = false;
};

QuantizeFor reader_named(const std::string& text) {
  static const std::map<std::string, QuantizeFor> readers{
      {"any", QuantizeFor::any}, {"ort", QuantizeFor::onnxruntime}, {"openvino", QuantizeFor::openvino}};
  const auto found = readers.find(text);
  if (found == readers.end()) throw UsageError("--for is any, ort or openvino, not '" + text + "'");
  return found->second;
}

void take_type(Wish& w, const std::string& text) {
  static const std::map<std::string, QuantizeType> types{
      {"int8", QuantizeType::int8}, {"mixed", QuantizeType::int8}, {"fp8", QuantizeType::fp8}, {"int4", QuantizeType::int4}};
  const auto found = types.find(text);
  if (found == types.end()) throw UsageError("--type is int8, fp8, int4 or mixed, not '" + text + "'");
  w.options.type = found->second, w.mixed = text == "mixed", w.type_given = true;
}

void take_nbits(Wish& w, const std::string& text) {
  const int bits = parse_int("nbits", text);
  if (bits != 4 && bits != 8) throw UsageError("--nbits is 4 or 8, not '" + text + "'");
  w.options.type = bits == 4 ? QuantizeType::nbits4 : QuantizeType::nbits8, w.nbits_given = true;
}

// --weights=int4:g32 of a file says what --nbits=4 --group=32 says.
void take_weights(Wish& w) {
  const std::string& text = w.folder.weights;
  if (text.empty()) return;
  if (w.nbits_given || w.type_given || w.group_given)
    throw UsageError("--weights says type and group: leave --nbits, --type and --group out");
  const std::size_t colon = text.find(":g");
  const std::string type = text.substr(0, colon);
  if ((type != "int4" && type != "int8") || colon == std::string::npos)
    throw UsageError("--weights of an ONNX file is '" + text + "'; int4:gN or int8:gN was expected, N a power of two from 16 on: "
                     "MatMulNBits has groups");
  take_nbits(w, type.substr(3));
  w.options.group = parse_int("weights", text.substr(colon + 2), 1), w.group_given = true;
}

bool is_of_weights(const Wish& w) { return w.options.type != QuantizeType::int8 && w.options.type != QuantizeType::fp8; }

void check(const Wish& w) {
  if (w.nbits_given && w.type_given) throw UsageError("--nbits and --type are two ways to set the type of layers: give one of them");
  if (w.group_given && !is_of_weights(w)) throw UsageError("--group is for weights alone: say --nbits or --type=int4");
  if (w.options.reduce_range && w.options.type != QuantizeType::int8) throw UsageError("--reduceRange is for --type=int8");
  if (is_of_weights(w) && !(w.calibrator.empty() && w.cache.empty()))
    throw UsageError("--calibrator and --calib are for ranges of data, and weights alone become narrower");
  if (w.mixed && !w.budget.build.budget) throw UsageError("--type=mixed needs --max-error=E: it says how much may be narrower");
  if (w.budget.build.budget && w.budget.build.budget->max_error == 0)
    throw UsageError("--metric and --searchTime are for --max-error=E: say how far outputs may be off");
  if (w.budget.build.budget && w.data.empty()) throw UsageError("--max-error needs --data=PATH: samples to measure the error on");
}

Flags make_flags(Wish& w) {
  Flags flags("tenfold quantize MODEL --data=PATH -o OUT.onnx [--flags]\n       tenfold quantize FOLDER --weights=int4:g32 "
              "[--method=gptq|awq --data=TEXTS] -o OUT",
              "Writes MODEL with QuantizeLinear and DequantizeLinear around its GEMMs and convolutions, so that engines run them in\n"
              "int8 or fp8, or with 4-bit weights. Every second sample is used for ranges, the others to measure the error. Everything\n"
              "else in the file is unchanged.");
  flags.group("Flags");
  flags.add_text("o", w.output, "FILE", "the file to write; it refers to no other file (external data is included)");
  flags.add_text("data", w.data, "PATH",
                 "samples: .npz by input name or .npy, one sample per index of the first axis; JPEG or PNG; a folder of either; .txt, "
                 ".csv:COLUMN");
  flags.add_text("tokenizer", w.tokenizer, "FILE", "the tokenizer.json of texts in --data, or a folder that holds it");
  flags.add({"image", "SPEC", "preprocessing of photographs, as in tenfold exec: resize:256,crop:224,scale:255,mean:...,std:...",
             [&w](const std::string& text) { w.image = formats::parse_image_spec(text, "--image"); }});
  flags.add({"samples", "N", "take at most N samples of --data (100; of a FOLDER's texts 256)",
             [&w](const std::string& text) { w.samples = parse_int("samples", text, 1); }});
  flags.add({"for", "any|ort|openvino",
             "target engine: any (default; symmetric i8, as for TensorRT), ort (u8 with zero points, i32 biases: ONNX Runtime computes "
             "other forms in floats), openvino (u8 where nothing is negative, else i8)",
             [&w](const std::string& text) { w.options.reader = reader_named(text); }});
  flags.add({"exclude", "PATTERN", "keep nodes with matching names in floats; one * matches any text (repeatable)",
             [&w](const std::string& text) { w.options.exclude.push_back(text); }});
  flags.add_text("calibrator", w.calibrator, "NAME",
                 "calibrator: auto (the best of them; default), entropy (default with --calib), minmax, mse, percentile");
  flags.add({"corrections", "LIST", "corrections to try: equalize,smooth,round,bias (default), or none; each is kept if it reduces the "
                                    "error",
             [&w](const std::string& text) { w.corrections = parse_corrections(text); }});
  flags.add_text("calib", w.cache, "FILE", "calibration cache in TensorRT's format: read if FILE exists, else calibrated on --data and "
                                           "written");
  flags.add({"type", "int8|fp8|int4|mixed",
             "type of GEMMs and convolutions: int8 (default), fp8 (e4m3), int4 (weights only, in groups), mixed (int8 and floats, by "
             "--max-error)",
             [&w](const std::string& text) { take_type(w, text); }});
  flags.add({"nbits", "4|8", "turn GEMMs into ONNX Runtime's MatMulNBits with weights of N bits",
             [&w](const std::string& text) { take_nbits(w, text); }});
  flags.add({"group", "N", "weights per scale of --type=int4 and --nbits (32)", [&w](const std::string& text) {
               w.options.group = parse_int("group", text, 1), w.group_given = true;
             }});
  flags.add_switch("reduceRange", w.options.reduce_range,
                   "7-bit weights: for ONNX Runtime on x86 without VNNI, whose int8 GEMMs saturate");
  add_budget_flags(flags, w.budget);
  flags.add_switch("externalData", w.options.external_data, "write large weights to OUT.onnx.data; default: only beyond 2 GiB");
  flags.add({"threads", "N", "run samples on N threads; default: what this process may use",
             [&w](const std::string& text) { w.config.threads = parse_int("threads", text, 1, kMaxThreads); }});
  add_import_flags(flags, w.config);
  flags.add_switch("help", w.help, "this text");
  add_folder_flags(flags, w.folder);
  flags.footer(
      "int8 and fp8 need samples. --type=int4 and --nbits do not: without samples, weights are rounded to nearest. Exit code 3:\n"
      "no layer can be quantized (within --max-error), or a node prevents the opset that the type needs (13, fp8 19, int4 21);\n"
      "the message says what to do.");
  return flags;
}

std::optional<Calibration> calibration_of(const Wish& w, const std::string& model) {
  Calibration calibration{.sample = {}, .samples = w.samples > 0 ? w.samples : 100, .cache = w.cache};
  if (!w.calibrator.empty()) calibration.method = w.calibrator;
  else if (!w.cache.empty()) calibration.method = "entropy";
  if (w.corrections) calibration.corrections = *w.corrections;
  if (w.data.empty()) {
    if (is_of_weights(w)) return {};
    if (w.cache.empty())
      throw UsageError("--data=PATH is missing: samples show which ranges values have (or --calib=FILE, a cache of them)");
    if (formats::size_of_file(w.cache) < 0) throw UsageError("--calib: '" + w.cache + "' does not exist; --data=PATH creates it");
    return calibration;
  }
  const std::shared_ptr<formats::Samples> samples =
      open_samples({"data", w.data, w.image, model_bindings(model, w.config), calibration.samples, w.console, w.tokenizer});
  calibration.sample = [samples](int index) { return samples->at(index); };
  return calibration;
}

std::string names_of(const std::vector<std::string>& nodes) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < kShown; ++i) text += (i ? ", " : "") + printable(nodes[i]);
  return nodes.size() > kShown ? text + ", ..." : text;
}

void print_report(const Wish& w, const QuantizeReport& r) {
  if (r.budget) print_budget(w.budget, *r.budget);
  const char* const what = w.options.type == QuantizeType::fp8 ? "are in e4m3"
                           : is_of_weights(w)                  ? "have weights of 4 or 8 bits"
                                                               : "are in int8";
  std::printf("%d of %d layers %s in %s\n", r.quantized, r.layers, what, printable(w.output).c_str());
  for (const QuantizeReport::Left& left : r.left)
    std::printf("  %zu in floats, because %s: %s\n", left.nodes.size(), left.why.c_str(), names_of(left.nodes).c_str());
  const CalibrationReport& c = r.calibration;
  if (is_of_weights(w)) std::printf("weights: by %s, groups of %lld", c.method.c_str(), static_cast<long long>(w.options.group));
  else std::printf("ranges: %d values by %s, %d samples\n", c.values, c.method.c_str(), c.samples);
  if (is_of_weights(w)) std::printf(c.samples > 0 ? ", %d samples\n" : "\n", c.samples);
  for (const CorrectionReport& correction : c.corrections)
    std::printf("correction %s: relative l2 error %.4g, without it %.4g: %s\n", correction.name.c_str(), correction.after,
                correction.before, correction.kept ? "kept" : "left out");
  for (const OutputError& e : c.errors)
    std::printf("relative l2 error of '%s', on %d other samples: %.4g\n", printable(e.output).c_str(), c.compared, e.relative_l2);
  if (c.compared == 0)
    std::printf("the error is not known: there was no sample%s\n", w.data.empty() ? "" : " beside those that gave the ranges");
  if (r.opset_after != r.opset_before) std::printf("opset: %d, was %d\n", r.opset_after, r.opset_before);
  std::printf("bytes: %lld, were %lld\n", static_cast<long long>(r.bytes_after), static_cast<long long>(r.bytes_before));
}

}  // namespace

void quantize_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int quantize_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 1)
    throw UsageError("tenfold quantize takes one model: tenfold quantize m.onnx --data=samples.npz -o m.qdq.onnx");
  std::error_code none;
  const bool is_folder = std::filesystem::is_directory(words[0], none);
  if (is_folder && w.folder.weights.empty())
    throw UsageError("'" + words[0] + "' is a folder; with --weights=int4:g32, that of a language model is rounded");
  if (is_folder) return quantize_folder(arguments, words[0], {w.output, w.data, w.samples, w.config.threads}, w.folder);
  check_no_folder(w.folder);
  take_weights(w);
  if (w.output.empty()) throw UsageError("say where to write the file: -o OUT.onnx");
  if (is_plan(words[0])) throw UsageError("'" + words[0] + "' is a plan: its kernels are chosen already; quantize the model");
  check(w);
  w.config.log = Console{.show_info = false}.callback();
  formats::expect_writable(w.output), formats::expect_writable(w.data.empty() ? "" : w.cache);
  w.config.calibration = calibration_of(w, words[0]);
  w.config.budget = w.budget.build.budget;
  print_report(w, quantize_file(words[0], w.output, w.config, w.options));
  return kOk;
}

}  // namespace tenfold::cli
