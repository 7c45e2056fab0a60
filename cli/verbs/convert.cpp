// tenfold convert: a model file raised to a newer opset.
#include <cstdio>

#include "console.h"
#include "flags/flags.h"
#include "formats/files.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "tenfold/internal/convert_file.h"

namespace tenfold::cli {
namespace {

struct Wish {
  std::string output;
  int opset = 21;
  bool external_data = false, help = false;
  BuildConfig config;
};

Flags make_flags(Wish& w) {
  Flags flags("tenfold convert MODEL.onnx --opset=N -o OUT.onnx [--flags]",
              "Writes MODEL with its nodes in the forms of a newer opset of ai.onnx. Nodes that mean the same there, names, weights,\n"
              "metadata and other domains stay as they are.");
  flags.group("Flags");
  flags.add_text("o", w.output, "FILE", "the file to write; it refers to no other file (external data is included)");
  flags.add({"opset", "N", "the opset to raise the model to (21); a model of a newer one is copied",
             [&w](const std::string& text) { w.opset = parse_int("opset", text, 7); }});
  flags.add_switch("externalData", w.external_data, "write large weights to OUT.onnx.data; default: only beyond 2 GiB");
  add_import_flags(flags, w.config);
  flags.add_switch("help", w.help, "this text");
  flags.footer(
      "Exit code 3: nodes that have no form at that opset, which the message names, or an invalid model. Nothing is written then.\n"
      "Nodes in bodies of If, Loop and Scan are converted, too; those of functions are never rewritten, and named where they would have\n"
      "to be.");
  return flags;
}

}  // namespace

void convert_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int convert_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 1) throw UsageError("tenfold convert takes one model: tenfold convert m.onnx --opset=21 -o m21.onnx");
  if (w.output.empty()) throw UsageError("say where to write the file: -o OUT.onnx");
  if (is_plan(words[0])) throw UsageError("'" + words[0] + "' is a plan, which has no opset: convert the model");
  w.config.log = Console{.show_info = false}.callback();
  formats::expect_writable(w.output);
  const ConvertReport r = convert_file(words[0], w.output, w.opset, w.config, w.external_data);
  if (r.opset_before == r.opset_after) std::printf("opset %d already: copied to %s\n", r.opset_before, printable(w.output).c_str());
  else
    std::printf("opset %d, was %d: %d nodes written anew in %s\n", r.opset_after, r.opset_before, r.rewritten,
                printable(w.output).c_str());
  return kOk;
}

}  // namespace tenfold::cli
