// What `tenfold latency` is asked for, its steps, and how results are told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/exec_options.h"
#include "tenfold/build.h"
#include "tenfold/low_latency.h"
#include "tenfold/machine.h"
#include "tenfold/open_loop.h"

namespace tenfold::cli {

struct LatencyWish {
  std::string onnx, plan, histogram, percentiles, plot;
  std::vector<std::string> sizes;        // of LSTMs; empty: a model or plan
  bool json = false, help = false, full_help = false;
  bool huge_pages = false;
  int streams = 1;
  std::optional<PortOptions> rings;      // nothing: the thread that asks computes
  std::optional<std::vector<double>> sweep;   // rates; empty: parts of the closed loop's
  OpenLoopOptions loop;
  MachineOptions machine;
  RunnerOptions runner;
  ExecOptions exec;                      // the flags that shape a plan
  BuildConfig build;                     // what they ask for, once all are known
  Console console;
};

// What is measured: its name, and the candidates that answer.
struct Published {
  std::string who;
  double p99_us;
};
struct LatencyCase {
  std::string name;
  std::vector<EngineCandidate> candidates;
  std::vector<Published> published;  // by others for this size on other machines: of the newest row
};
std::vector<LatencyCase> latency_cases(const LatencyWish& wish);   // throws UsageError, Error

// What one case gave.
struct LatencyReport {
  std::string name, backend;
  double rate = 0, closed_loop = 0;      // asked for; one request directly behind the other, both a second
  OpenLoopResult result;
  LatencyRecorder hiccups;
  double load_seconds = 0, began_s = 0;
  std::vector<CandidateState> candidates;
  bool has_deadline = false;             // else no answer is late
  bool slides = false;  // windows slid by one row, and times are those of the newest row
  std::vector<Published> published;
};
void print_latency(const LatencyReport& report);
std::string latency_json(const std::vector<LatencyReport>& reports);
// Time over percentiles, and the worst of each part of the run, as SVG.
std::string latency_plot(const LatencyReport& report);

}  // namespace tenfold::cli
