// tenfold onnx-suite: the ONNX backend tests, case by case in processes of their own.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "console.h"
#include "flags/flags.h"
#include "suite/processes.h"
#include "suite/suite_folder.h"
#include "suite/suite_report.h"
#include "tenfold/machine.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

struct Wish {
  std::string filter, expected;
  std::vector<SuiteWay> ways{SuiteWay::optimized, SuiteWay::loaded};
  int jobs = 0, timeout = 120;
  SuiteTolerance tolerance;
  bool json = false, list = false, help = false;
  BuildConfig config;
};

std::string as_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<SuiteWay> parse_ways(const std::string& text) {
  std::vector<SuiteWay> ways;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    for (const SuiteWay w : {SuiteWay::reference, SuiteWay::optimized, SuiteWay::loaded})
      if (word == name(w) && std::find(ways.begin(), ways.end(), w) == ways.end()) ways.push_back(w), word.clear();
    if (!word.empty()) throw UsageError("--ways is a list of reference, optimized and loaded, each once, not '" + text + "'");
  }
  if (ways.empty()) throw UsageError("--ways is empty: say reference, optimized or loaded");
  return ways;
}

Flags make_flags(Wish& w) {
  Flags flags("tenfold onnx-suite DIR|ARCHIVE [--flags]",
              "Runs ONNX backend tests: folders with model.onnx and test_data_set_N, wherever they are below DIR, or in an archive that\n"
              "tar unpacks. A case runs in one of several processes, so a crash or a hang is a failure of that case alone.");
  flags.group("Flags");
  flags.add_text("filter", w.filter, "TEXT", "only cases with TEXT in their name, such as node/test_softmax");
  flags.add_text("device", w.config.device, "DEVICE", "cpu (default) or cuda:N");
  flags.add({"ways", "LIST",
             "what is judged, comma separated: reference (reference kernels, nothing optimized), optimized (the plan), loaded (the plan, "
             "saved and loaded, which must give the same bits); default: optimized,loaded",
             [&w](const std::string& text) { w.ways = parse_ways(text); }});
  flags.add({"jobs", "N", "processes; default: one for each processor that this one may use",
             [&w](const std::string& text) { w.jobs = parse_int("jobs", text, 1, kMaxThreads); }});
  flags.add({"threads", "N", "threads of each engine (1)",
             [&w](const std::string& text) { w.config.threads = parse_int("threads", text, 1, kMaxThreads); }});
  flags.add({"builderOptimizationLevel", "N", "level of the builds, 0 to 5 (0: nothing is timed)",
             [&w](const std::string& text) { w.config.optimization_level = parse_int("builderOptimizationLevel", text, 0, 5); }});
  flags.add({"noTF32", "", "float32 is not rounded, as in tenfold exec", [&w](const std::string&) { w.config.tf32 = false; }});
  flags.add({"rtol", "R", "relative tolerance (0.001, as the suite's own runner)",
             [&w](const std::string& text) { w.tolerance.rtol = parse_number("rtol", text, 0); }});
  flags.add({"atol", "A", "absolute tolerance (1e-7, as the suite's own runner)",
             [&w](const std::string& text) { w.tolerance.atol = parse_number("atol", text, 0); }});
  flags.add({"timeout", "SECONDS", "a case that takes longer is ended, and has failed (120)",
             [&w](const std::string& text) { w.timeout = parse_int("timeout", text, 1); }});
  flags.add_text("expected", w.expected, "FILE",
                 "names of cases that need not pass, one a line, # begins a comment; they do not count in the exit code");
  flags.add_switch("list", w.list, "print the cases that do not pass as lines for --expected");
  flags.add_switch("json", w.json, "print an object: device, seconds, passed, failed, refused, cases");
  flags.add_switch("help", w.help, "this text");
  flags.footer(
      "Exit code: 0 every case passed, 5 an output is not the expected one, 1 a case failed otherwise, 3 some were refused.\n"
      "Random operators are judged by types and shapes. Tolerances of single cases: light_densenet121 rtol 0.002 (the suite's own),\n"
      "test_dft_inverse* atol 1e-6 (values of 2e-7 are stored where 0 is right).");
  return flags;
}

std::set<std::string> names_in(const std::string& file) {
  std::set<std::string> names;
  if (file.empty()) return names;
  std::ifstream lines(file);
  if (!lines) throw UsageError("--expected: cannot read '" + file + "'");
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find_first_of(" #"));
    if (!line.empty()) names.insert(line);
  }
  return names;
}

std::vector<SuiteCase> cases_of(const std::string& folder, const std::string& filter) {
  std::vector<SuiteCase> cases = suite_cases(folder);
  if (cases.empty()) throw UsageError("there is no case below the folder: a model.onnx beside a test_data_set_0 was expected");
  cases.erase(std::remove_if(cases.begin(), cases.end(), [&](const SuiteCase& c) { return c.name.find(filter) == std::string::npos; }),
              cases.end());
  if (cases.empty()) throw UsageError("--filter: no case has '" + filter + "' in its name");
  return cases;
}

std::vector<CaseReport> run_all(const std::vector<SuiteCase>& cases, const Wish& w) {
  std::vector<CaseReport> reports(cases.size());
  std::vector<std::size_t> order;   // whole networks, whose data are not stored, first: they take longest
  for (const bool networks : {true, false})
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (cases[i].expected.empty() != networks) order.push_back(i);
  const int jobs = w.jobs > 0 ? w.jobs : static_cast<int>(std::max<std::size_t>(1, allowed_cpus().size()));
  std::size_t done = 0;
  const bool shows_progress = ::isatty(STDERR_FILENO) != 0;
  in_processes(
      order, jobs, w.timeout, [&](std::size_t i) { return as_text(to_json(run_suite_case(cases[i], w.ways, w.config, w.tolerance)), -1); },
      [&](std::size_t i, const Outcome& outcome) {
        reports[i] = {cases[i].name, {}, outcome.died, outcome.seconds};
        if (outcome.died.empty()) reports[i].result = result_from(nlohmann::ordered_json::parse(outcome.answer));
        ++done;
        if (shows_progress && done < cases.size()) std::fprintf(stderr, "\r%zu of %zu", done, cases.size());
        else if (shows_progress) std::fprintf(stderr, "\r%20s\r", "");
      });
  return reports;
}

int exit_code(const std::vector<CaseReport>& reports, const std::set<std::string>& expected) {
  bool wrong = false, failed = false, refused = false;
  for (const CaseReport& r : reports) {
    if (expected.count(r.name)) continue;
    const SuiteVerdict verdict = r.verdict();
    wrong |= verdict == SuiteVerdict::failed && r.wrong();
    failed |= verdict == SuiteVerdict::failed;
    refused |= verdict == SuiteVerdict::refused;
  }
  return wrong ? kAccuracyFailed : failed ? kRunFailed : refused ? kModelInvalid : kOk;
}

}  // namespace

void onnx_suite_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int onnx_suite_main(const Arguments& arguments) {
  Wish w;
  w.config.threads = 1, w.config.optimization_level = 0;
  w.config.device = "cpu";
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 1) throw UsageError("tenfold onnx-suite takes one folder or archive, " + std::to_string(words.size()) + " given");
  const std::set<std::string> expected = names_in(w.expected);
  const SuiteFolder folder(words[0]);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<CaseReport> reports = run_all(cases_of(folder.path(), w.filter), w);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (w.json) std::printf("%s\n", as_text(suite_json(reports, w.config.device, seconds), 2).c_str());
  else if (w.list) print_list(reports);
  else print_suite(reports, w.ways, expected, w.config.device, seconds);
  return exit_code(reports, expected);
}

}  // namespace tenfold::cli
