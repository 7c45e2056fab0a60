// tenfold embed: the vectors of a file's texts, by a sentence encoder's folder.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "console.h"
#include "files.h"
#include "flags.h"
#include "tenfold/encoder.h"
#include "text_stream.h"
#include "vector_file.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

constexpr std::int64_t kWindow = 4096;  // texts in memory at once; a file goes on where a window began

struct Wish {
  std::string column, prompt, precision = "fp32", cache;
  bool resume = false, no_cache = false, quiet = false, help = false;
  EncoderOptions options;
  Console console;
};

void take_precision(Wish& w, const std::string& text) {
  if (text != "fp32" && text != "fp16" && text != "bf16" && text != "auto")
    throw UsageError("--precision is fp32, fp16, bf16 or auto, not '" + text + "'");
  w.precision = text;
  w.options.build.fp16 = text == "fp16", w.options.build.bf16 = text == "bf16", w.options.build.auto_precision = text == "auto";
}

Flags make_flags(Wish& w) {
  Flags flags(
      "tenfold embed MODEL IN OUT [--flags]",
      "Writes a vector for each text of IN, in order. MODEL is the folder of a sentence encoder, as sentence-transformers saves it.\n"
      "IN: lines, or .jsonl, .csv, .tsv with --column. OUT: .npy (f32[texts, width]), .fvecs (length, floats) or .jsonl.");
  flags.group("Flags");
  flags.add_text("column", w.column, "NAME",
                 "the texts of .csv and .tsv, by title or number from 0 on; the field of .jsonl's objects (text)");
  flags.add_text("device", w.options.build.device, "NAME", "cpu (default), cuda:0 ...");
  flags.add({"precision", "fp32|fp16|bf16|auto", "types of products (fp32); auto: what the device is quickest in",
             [&w](const std::string& text) { take_precision(w, text); }});
  flags.add_int("dimensions", w.options.dimensions, "only the first N of each vector; 0: what the folder says, else all");
  flags.add_switch("normalize", w.options.normalize, "vectors get length 1");
  flags.add_text("prompt", w.prompt, "TEXT", "put in front of each text");
  flags.add_int("maxTokens", w.options.max_tokens, "cut texts to N tokens; 0: what the folder says");
  flags.add_switch("resume", w.resume, "go on with OUT.part, which an earlier run left; the bytes are those of one run");
  flags.add({"threads", "N", "default: what this process may use",
             [&w](const std::string& text) { w.options.build.threads = parse_int("threads", text, 1, kMostThreads); }});
  flags.add({"builderOptimizationLevel", "N", "how long kernels are searched for, 0 to 5 (1)",
             [&w](const std::string& text) { w.options.build.optimization_level = parse_int("builderOptimizationLevel", text, 0, 5); }});
  flags.add_text("planCache", w.cache, "DIR", "where plans are kept; default: ~/.cache/tenfold/plans");
  flags.add_switch("noPlanCache", w.no_cache, "keep no plan");
  flags.add_switch("quiet", w.quiet, "no progress");
  flags.add_switch("verbose", w.console.verbose, "what builds say");
  flags.add_switch("help", w.help, "this text");
  return flags;
}

class Meter {
 public:
  explicit Meter(bool shown) : shown_(shown && ::isatty(STDERR_FILENO)) {}
  ~Meter() {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }
  void tell(std::int64_t texts) const {
    if (shown_) std::fprintf(stderr, "\r%lld texts, %.0f a second", static_cast<long long>(texts), static_cast<double>(texts) / seconds());
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  bool shown_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::int64_t embed(const Wish& w, const Encoder& encoder, const TextStream& next, VectorFile& out, const Meter& meter) {
  std::vector<std::string> texts;
  std::string text;
  for (std::int64_t skipped = 0; skipped < out.rows(); ++skipped)
    if (!next(text)) throw Error(ErrorKind::invalid_argument, "--resume: the input has fewer texts than OUT.part has vectors");
  std::int64_t done = 0;
  for (bool more = true; more;) {
    texts.clear();
    while (static_cast<std::int64_t>(texts.size()) < kWindow && (more = next(text))) texts.push_back(text);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const EncodeCall call{.prompt = w.prompt, .progress = [&](std::size_t ready, std::size_t) {
                            meter.tell(done + static_cast<std::int64_t>(ready));
                            return true;
                          }};
    try {
      if (!views.empty()) out.append(encoder.encode(views, call));
    } catch (Error& e) {  // which counts texts from the window's first one
      if (out.rows() == 0) throw;
      throw e.within("behind the first " + std::to_string(out.rows()) + " texts");
    }
    done += static_cast<std::int64_t>(views.size());
  }
  return done;
}

}  // namespace

int embed_main(const Arguments& arguments) {
  Wish w;
  w.console.show_info = false;
  const Flags flags = make_flags(w);
  const auto words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 3) throw UsageError("tenfold embed takes MODEL IN OUT, " + std::to_string(words.size()) + " given");
  if (w.options.build.device.find(',') != std::string::npos)
    throw UsageError("--device takes one device; several at once are not supported");
  w.options.build.log = w.console.callback();
  if (w.no_cache)
    w.options.cache.reset();
  else
    w.options.cache->folder = w.cache;
  const TextStream next = open_texts(words[1], w.column);
  const Encoder encoder = Encoder::load(words[0], w.options);
  const std::string how = words[0] + "\n" + words[1] + "\n" + w.column + "\n" + w.prompt + "\n" + w.precision + "\n" +
                          w.options.build.device + "\n" + std::to_string(encoder.info().width) + "\n" +
                          std::to_string(encoder.info().max_tokens) + "\n" + std::to_string(w.options.normalize) + "\n";
  VectorFile out(words[2], encoder.info().width, how, w.resume, kWindow);
  encoder.prepare();
  const Meter meter(!w.quiet);
  const std::int64_t before = out.rows(), done = embed(w, encoder, next, out, meter);
  out.finish();
  std::printf("%lld vectors of %d in %s: %lld texts in %.1f s, %lld of them cut to %d tokens\n", static_cast<long long>(before + done),
              encoder.info().width, printable(words[2]).c_str(), static_cast<long long>(done), meter.seconds(),
              static_cast<long long>(encoder.counts().truncated), encoder.info().max_tokens);
  return kOk;
}

}  // namespace tenfold::cli
