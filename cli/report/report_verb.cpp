// tenfold report: a plan as one page to look at, or two plans side by side.
#include <cstdio>

#include "flags/flags.h"
#include "flags/specs.h"
#include "formats/files.h"
#include "model_or_plan.h"
#include "report/changes.h"
#include "report/gather.h"
#include "report/page.h"
#include "verbs.h"
#include "tenfold/internal/file.h"
#include "tenfold/version.h"

namespace tenfold::cli {
namespace {

struct Request {
  std::string output;
  bool json = false, help = false, full_help = false;
  GatherOptions gather;
};

void add_run_flags(Flags& flags, GatherOptions& o) {
  flags.add_switch("skipInference", o.skip_inference, "run nothing: a page without times and without a roofline");
  flags.add({"iterations", "N", "time at least N runs (10) ...",
             [&o](const std::string& text) { o.run.iterations = parse_int("iterations", text, 1); }});
  flags.add({"duration", "S", "... and at least S seconds (1)",
             [&o](const std::string& text) { o.run.duration_s = parse_number("duration", text, 0); }});
  flags.add({"warmUp", "MS", "warm up for MS milliseconds (200)",
             [&o](const std::string& text) { o.run.warmup_ms = parse_number("warmUp", text, 0); }});
  flags.add({"loadInputs", "SPEC", "values of inputs: name:file.npy,other:file.npy, or an .npz; default: random",
             [&o](const std::string& text) { parse_files("loadInputs", text, o.exec.load_inputs); }});
  flags.add_int("useProfile", o.profile, "the optimization profile to show (0)");
}

Flags make_flags(Request& r) {
  r.gather.exec.console.show_info = false, r.gather.exec.progress = "none";
  Flags flags(
      "tenfold report MODEL.onnx | PLAN [OTHER] [-o report.html] [--flags]          (--help=all explains every flag)",
      "Writes one HTML page that loads nothing else: the graph, each step with its time and its distance to the roofline, memory over\n"
      "time, fusions, precisions, and what was tried and lost. With two models or plans: what changed, and what it costs.");
  flags.group("Flags");
  flags.add_text("o", r.output, "FILE", "the page (report.html)");
  flags.add_switch("json", r.json, "print the page's data instead; the page is written only with -o");
  add_run_flags(flags, r.gather);
  flags.add_switch("verbose", r.gather.exec.console.verbose, "log the build");
  flags.add({"help", "[all]", "this text; =all: a line for every flag",
             [&r](const std::string& text) { r.help = true, r.full_help = text == "all"; }});
  flags.group("Flags of the build, as in exec");
  add_plan_flags(flags, r.gather.exec, true);
  return flags;
}

std::string size_text(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 1000000 ? "%.0f kB" : "%.1f MB", static_cast<double>(bytes) / (bytes < 1000000 ? 1e3 : 1e6));
  return text;
}

}  // namespace

void report_flags(const UseFlags& use) {
  Request r;
  use(make_flags(r));
}

int report_main(const Arguments& arguments) {
  Request r;
  const Flags flags = make_flags(r);
  const auto words = flags.parse(arguments);
  if (r.help) return std::fputs(flags.help(r.full_help).c_str(), stdout), kOk;
  if (words.empty() || words.size() > 2)
    throw UsageError("tenfold report takes one model or plan, or two to compare; " + std::to_string(words.size()) + " given");
  if (r.output.empty() && !r.json) r.output = "report.html";
  formats::expect_writable(r.output);
  std::string model;   // a file that is not there is named before a build, which may take minutes
  for (const std::string& word : words)
    if (!is_plan(word)) model = word;
  (model.empty() ? r.gather.exec.load_engine : r.gather.exec.onnx) = model.empty() ? words[0] : model;
  check_plan_flags(r.gather.exec);
  Json data{{"tenfold", std::string(version())}, {"plans", Json::array()}};
  for (const std::string& word : words) data["plans"].push_back(plan_json(gather(word, r.gather)));
  if (words.size() == 2) data["changes"] = changes_json(data["plans"][0], data["plans"][1]);
  if (r.json) std::printf("%s\n", data.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  if (r.output.empty()) return kOk;
  const std::string page = page_of(data);
  write_file(r.output, page);
  if (!r.json) std::printf("%s: %s, %zu steps\n", r.output.c_str(), size_text(page.size()).c_str(), data["plans"][0]["steps"].size());
  return kOk;
}

}  // namespace tenfold::cli
