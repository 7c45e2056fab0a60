// tenfold embed: the vectors of a file's texts, by a sentence encoder's folder.
#include "embed/embed.h"

#include <cstdio>
#include <set>

#include "flags/flags.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

constexpr std::size_t kCalibrationTexts = 200;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

// What the library refuses as a value of a flag is a mistake in the command line.
template <class Read>
auto value_of(const char* flag, const Read& read) {
  try {
    return read();
  } catch (const Error& e) {
    throw UsageError(std::string("--") + flag + ": " + e.what());
  }
}

Flags make_flags(EmbedWish& w) {
  Flags flags(
      "tenfold embed MODEL IN OUT [--flags]\n       tenfold embed MODEL [IN] --benchmark [--flags]",
      "Writes a vector for each text of IN, in order. MODEL is the folder of a sentence encoder, as sentence-transformers saves it.\n"
      "IN: lines, or .jsonl, .csv, .tsv with --column. OUT: .npy (f32[texts, width]), .fvecs (length, floats) or .jsonl.");
  flags.group("Flags");
  flags.add_text("column", w.column, "NAME",
                 "column of .csv and .tsv, by title or number from 0; field of .jsonl (default: text)");
  flags.add({"device", "NAME[,NAME...]", "cpu (default), cpu:0-3 (these processors), cuda:0; several run in parallel",
             [&w](const std::string& text) { w.options.devices = split(text); }});
  flags.add({"strategy", "auto|round_robin|memory|utilization|pipeline", "how batches are assigned to devices (auto: the next free device)",
             [&w](const std::string& text) { w.options.strategy = value_of("strategy", [&] { return parse_device_strategy(text); }); }});
  flags.add({"precision", "fp32|tf32|fp16|bf16|int8|auto",
             "precision of GEMMs (fp32); int8 only if vectors stay near fp32's (--minCosine); auto: the fastest",
             [&w](const std::string& text) {
               w.options.precision = value_of("precision", [&] { return parse_encoder_precision(text); });
             }});
  flags.add_text("calibrationTexts", w.calibration, "FILE", "calibration texts of int8, one a line; default: the first texts of IN");
  flags.add({"minCosine", "C", "lowest mean cosine between int8's and fp32's vectors to use int8 (0.99)",
             [&w](const std::string& text) { w.options.min_cosine = parse_number("minCosine", text, 0); }});
  flags.add_int("dimensions", w.options.dimensions, "keep the first N elements of each vector; 0: as the folder says, else all");
  flags.add_switch("normalize", w.options.normalize, "normalize vectors to length 1");
  flags.add_text("prompt", w.prompt, "TEXT", "put TEXT before each text");
  flags.add_int("maxTokens", w.options.max_tokens, "truncate texts to N tokens; 0: as the folder says");
  flags.add_switch("resume", w.resume, "continue OUT.part of an interrupted run; the result is the same as without interruption");
  flags.add({"threads", "N", "of each device; default: what this process may use",
             [&w](const std::string& text) { w.options.build.threads = parse_int("threads", text, 1, kMaxThreads); }});
  flags.add({"builderOptimizationLevel", "N", "optimization level, 0 to 5 (1)",
             [&w](const std::string& text) { w.options.build.optimization_level = parse_int("builderOptimizationLevel", text, 0, 5); }});
  flags.add_text("planCache", w.cache, "DIR", "folder of the plan cache; default: ~/.cache/tenfold/plans");
  flags.add_switch("noPlanCache", w.no_cache, "do not use the plan cache");
  flags.add_switch("quiet", w.quiet, "no progress");
  flags.add_switch("verbose", w.console.verbose, "log builds");
  flags.add_switch("help", w.help, "this text");
  flags.group("Benchmark");
  flags.add_switch("benchmark", w.benchmark, "time batches from text to vectors, with the texts of IN or ten built-in ones");
  flags.add({"batchSizes", "N,N...", "numbers of texts in a batch (1,8,16,32,64,128)", [&w](const std::string& text) {
               w.batch_sizes.clear();
               for (const std::string& one : split(text)) w.batch_sizes.push_back(parse_int("batchSizes", one, 1, 1 << 20));
             }});
  flags.add({"iterations", "N", "runs of each batch size (100), fewer if they take more than 20 s",
             [&w](const std::string& text) { w.iterations = parse_int("iterations", text, 1); }});
  flags.add_text("exportJson", w.json, "FILE", "write results as JSON, with batch sizes as keys");
  return flags;
}

void take_words(EmbedWish& w, const std::vector<std::string>& words) {
  const std::size_t min = w.benchmark ? 1 : 3, max = w.benchmark ? 2 : 3;
  if (words.size() < min || words.size() > max)
    throw UsageError(std::string("tenfold embed takes ") + (w.benchmark ? "MODEL [IN] with --benchmark" : "MODEL IN OUT") + ", " +
                     std::to_string(words.size()) + " given");
  if (w.benchmark && w.resume) throw UsageError("--benchmark writes no vectors, so there is nothing to --resume");
  w.model = words[0];
  if (words.size() > 1) w.in = words[1];
  if (words.size() > 2) w.out = words[2];
}

// The texts that int8 is calibrated on, where it may be wanted.
std::vector<std::string> calibration_texts(const EmbedWish& w, TextWindows* windows) {
  if (w.options.precision != EncoderPrecision::int8 && w.options.precision != EncoderPrecision::automatic) {
    if (!w.calibration.empty()) throw UsageError("--calibrationTexts is for --precision=int8 and --precision=auto");
    return {};
  }
  std::vector<std::string> texts;
  if (!w.calibration.empty()) {
    const formats::TextStream next = formats::open_texts(w.calibration, "", "--column");
    for (std::string text; texts.size() < kCalibrationTexts && next(text);) texts.push_back(text);
    if (texts.empty()) throw Error(ErrorKind::invalid_argument, "'" + w.calibration + "' has no texts to calibrate on");
  } else if (windows) {
    texts = windows->peek().texts;
    texts.resize(std::min(texts.size(), kCalibrationTexts));
  }
  return texts;
}

}  // namespace

std::string devices_text(const Encoder& encoder) {
  std::string text;
  for (const DeviceWork& one : encoder.devices()) text += (text.empty() ? "" : ", ") + one.device + (one.lost.empty() ? "" : " (failed)");
  return text;
}

std::string precision_text(const Encoder& encoder) {
  std::set<std::string> all;
  for (const DeviceWork& one : encoder.devices())
    if (!one.precision.empty())
      all.insert(one.precision + (one.int8_cosine >= 0 ? " (int8's cosine is " + std::to_string(one.int8_cosine) + ")" : ""));
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "no precision" : text;
}

void embed_flags(const UseFlags& use) {
  EmbedWish w;
  use(make_flags(w));
}

int embed_main(const Arguments& arguments) {
  EmbedWish w;
  w.console.show_info = false;
  w.options.precision = EncoderPrecision::fp32;
  const Flags flags = make_flags(w);
  const auto words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  take_words(w, words);
  w.options.build.log = w.console.callback();
  if (w.no_cache)
    w.options.cache.reset();
  else
    w.options.cache->folder = w.cache;
  std::optional<TextWindows> windows;
  if (!w.in.empty()) windows.emplace(formats::open_texts(w.in, w.column, "--column"));
  w.options.calibration_texts = calibration_texts(w, windows ? &*windows : nullptr);
  const Encoder encoder = Encoder::load(w.model, w.options);
  if (!w.benchmark) return embed_file(w, encoder, *windows), kOk;
  std::vector<std::string> texts;
  if (windows) texts = windows->next().texts;
  if (windows && texts.empty()) throw Error(ErrorKind::invalid_argument, "'" + w.in + "' has no texts to measure with");
  if (!windows) texts.assign(example_texts().begin(), example_texts().end());
  embed_benchmark(w, encoder, texts);
  return kOk;
}

}  // namespace tenfold::cli
