// tenfold latency: how long callers wait, by an open loop.
#include "latency/latency.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>

#include "engines/engines.h"
#include "flags/specs.h"
#include "formats/files.h"
#include "latency/latency_inputs.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "tenfold/internal/file.h"

namespace tenfold::cli {
namespace {

using std::chrono::nanoseconds;

nanoseconds from(double value, double unit_ns) { return nanoseconds(static_cast<std::int64_t>(value * unit_ns)); }

template <class Enum>
Enum choice(const char* flag, const std::string& text, std::initializer_list<std::pair<const char*, Enum>> known) {
  std::string all;
  for (const auto& [word, value] : known) {
    if (text == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError("--" + std::string(flag) + " is one of " + all + ", not '" + text + "'");
}

double positive(const char* flag, const std::string& text) {
  const double value = parse_number(flag, text, 0);
  if (value <= 0) throw UsageError("--" + std::string(flag) + " must be above 0, not " + text);
  return value;
}

void loop_flags(Flags& f, LatencyWish& w) {
  f.group("Asking");
  f.add({"rate", "N", "requests a second (1000)", [&w](const std::string& t) { w.loop.rate = positive("rate", t); }});
  f.add(
      {"arrivals", "constant|poisson", "constant intervals (default), or a Poisson process", [&w](const std::string& t) {
         w.loop.arrivals = choice<Arrivals>("arrivals", t, {{"constant", Arrivals::constant}, {"poisson", Arrivals::poisson}});
       }});
  f.add({"duration", "S", "measure for S seconds (10)",
         [&w](const std::string& t) { w.loop.duration = from(positive("duration", t), 1e9); }});
  f.add({"warmUp", "MS", "warm up for MS milliseconds at the same rate (1000)",
         [&w](const std::string& t) { w.loop.warm_up = from(parse_number("warmUp", t, 0), 1e6); }});
  f.add({"streams", "N", "alternate between N inputs, or N streams of windows (1)",
         [&w](const std::string& t) { w.streams = parse_int("streams", t, 1, 1 << 20); }});
  f.add({"sweep", "[R,R...]", "measure these rates, one after the other; default: 10, 25, 50, 75 and 90 % of the closed-loop rate",
         [&w](const std::string& t) {
           w.sweep.emplace();
           if (t.empty()) return;
           for (const std::string& rate : split(t, ',')) w.sweep->push_back(positive("sweep", rate));
         }});
  f.add({"rings", "[N]", "send requests through rings of N slots (64) to a separate thread, which computes",
         [&w](const std::string& t) {
           if (!w.rings) w.rings.emplace();
           if (!t.empty()) w.rings->slots = parse_int("rings", t, 1, 32000);
         }});
  f.add({"whenFull", "WHAT", "+what a full ring does: reject (default), drop_oldest or keep_newest", [&w](const std::string& t) {
           if (!w.rings) w.rings.emplace();
           w.rings->when_full = choice<WhenFull>(
               "whenFull", t,
               {{"reject", WhenFull::reject}, {"drop_oldest", WhenFull::drop_oldest}, {"keep_newest", WhenFull::keep_newest}});
         }});
}

void machine_flags(Flags& f, LatencyWish& w) {
  f.group("The machine");
  f.add({"cpus", "N[,N]", "pin the computing thread to the first CPU, and the requesting thread (with --rings) to the second",
         [&w](const std::string& t) {
           for (const std::string& cpu : split(t, ',')) w.machine.cpus.push_back(parse_int("cpus", cpu, 0));
         }});
  f.add({"priority", "N", "SCHED_FIFO priority of the computing thread, 1 to 99",
         [&w](const std::string& t) { w.machine.priority = parse_int("priority", t, 1, 99); }});
  f.add_switch("lockMemory", w.machine.lock_memory, "lock all pages in memory (mlockall)");
  f.add_switch("hugePages", w.huge_pages, "weights in huge pages");
  f.add_switch("shallowSleep", w.machine.shallow_sleep, "hold /dev/cpu_dma_latency at 0, so that CPUs avoid deep sleep states");
  f.add({"spin", "forever|US", "spin while waiting (forever), or sleep until US microseconds before a request is due",
         [&w](const std::string& t) {
           w.machine.spins = t == "forever";
           w.loop.spin = t == "forever" ? nanoseconds(-1) : from(parse_number("spin", t, 0), 1e3);
         }});
  f.add({"keepWarm", "MS", "run a sample after MS milliseconds without a request (idle GPUs lower their clocks)",
         [&w](const std::string& t) { w.loop.keep_warm = from(positive("keepWarm", t), 1e6); }});
}

void fallback_chain_flags(Flags& f, LatencyWish& w) {
  f.group("Candidates: the plan, with --onnx also the model at level 0 on the GPU (direct) and on the CPU (cpu)");
  f.add({"deadline", "US", "deadline in microseconds; after a miss, the next candidate takes over",
         [&w](const std::string& t) { w.runner.deadline = from(positive("deadline", t), 1e3); }});
  f.add_switch("strict", w.runner.strict, "use the first candidate only, and fail if a machine setting is refused");
  f.add({"nan", "pass|fail", "requests with NaN or infinity: compute them (pass, default) or fail them; both are counted",
         [&w](const std::string& t) {
           w.runner.not_finite = choice<NotFinite>("nan", t, {{"pass", NotFinite::pass}, {"fail", NotFinite::fail}});
         }});
}

Flags make_flags(LatencyWish& w) {
  w.exec.progress = "none";
  Flags f("tenfold latency [--flags]",
          "Sends requests at a fixed rate, whether or not earlier ones have completed (an open loop), and reports response times,\n"
          "which count from the time when a request was due; service times; and hiccups of an idle loop on the same CPU.");
  f.group("What runs");
  f.add_text("onnx", w.onnx, "FILE", "a model to build");
  f.add_text("loadEngine", w.plan, "FILE", "a plan");
  f.add({"sizes", "A,B,C", "LSTMs with random weights, of the published sizes of STAC-ML Markets (Inference); results are not STAC results",
         [&w](const std::string& t) { w.sizes = split(t, ','); }});
  add_plan_flags(f, w.exec, false);
  loop_flags(f, w), machine_flags(f, w), fallback_chain_flags(f, w);
  f.group("Results");
  f.add_text("exportHistogram", w.histogram, "FILE", "response times, service times and hiccups as an HdrHistogram log (.hlog)");
  f.add_text("exportPercentiles", w.percentiles, "FILE", "response times as an HdrHistogram percentile distribution, in us (.hgrm)");
  f.add_text("plot", w.plot, "FILE", "chart of the percentiles (.svg)");
  f.add_switch("json", w.json, "print JSON");
  f.add_switch("verbose", w.console.verbose, "log builds and loads");
  f.add({"help", "[all]", "this text; all: a line for every flag",
         [&w](const std::string& t) { (t == "all" ? w.full_help : w.help) = true; }});
  return f;
}

CancelToken interrupted = CancelToken::create();
void interrupt(int) { interrupted.cancel(); }

void print_refusals(const LatencyWish& w, const std::vector<Refusal>& refused) {
  for (const Refusal& r : refused) {
    const std::string words = r.what + ": " + r.why + "; permitted by: " + r.command;
    if (w.runner.strict) throw Error(ErrorKind::invalid_argument, words + " (--strict)");
    w.console.warn(words);
  }
}

// The hiccups of a tenth of the time, but no longer than two seconds.
LatencyRecorder hiccups(const LatencyWish& w, double rate) {
  OpenLoopOptions idle = w.loop;
  idle.rate = std::min(std::max(rate, 1000.0), 1e6), idle.warm_up = nanoseconds(0), idle.keep_warm = nanoseconds(0);
  idle.duration = std::clamp(w.loop.duration / 10, nanoseconds(50'000'000), nanoseconds(2'000'000'000));
  return std::move(run_idle_loop(idle).response);
}

OpenLoopResult measure(LatencyRunner& runner, const LatencyWish& w, const std::vector<const void*>& inputs, const OpenLoopOptions& loop) {
  if (!w.rings) return run_open_loop(runner, inputs, loop);
  RunnerPort port = runner.open_port(*w.rings);
  const RunnerThread thread({&runner}, {.cpu = w.machine.cpus.empty() ? -1 : w.machine.cpus.front(),
                                        .priority = w.machine.priority,
                                        .spin = loop.spin,
                                        .keep_warm = loop.keep_warm});
  return run_open_loop(port, thread, inputs, loop);
}

LatencyReport measure_at(LatencyRunner& runner, const LatencyWish& w, const LatencyCase& one, double rate,
                         const std::vector<const void*>& inputs) {
  LatencyReport report;
  report.name = one.name, report.rate = rate;
  OpenLoopOptions loop = w.loop;
  loop.rate = rate, loop.token = interrupted;
  report.hiccups = hiccups(w, rate);
  report.began_s = static_cast<double>(std::time(nullptr));
  report.result = measure(runner, w, inputs, loop);
  report.hiccups.add(hiccups(w, rate));
  report.load_seconds = std::max(report.result.seconds, 1e-9);
  report.backend = runner.backend(), report.candidates = runner.candidates();
  report.has_deadline = w.runner.deadline.count() > 0;
  report.slides = runner.window_rows().input >= 0;
  if (report.slides) report.published = one.published;
  return report;
}

void measure_case(const LatencyWish& w, const LatencyCase& one, std::vector<LatencyReport>& reports) {
  LatencyRunner runner(one.candidates, w.runner);
  const LatencyInputs inputs(runner, w.streams);
  const double closed = run_closed_loop(runner, inputs.pointers(), std::min(w.loop.duration / 4, nanoseconds(1'000'000'000)));
  std::vector<double> rates = w.sweep ? *w.sweep : std::vector{w.loop.rate};
  if (rates.empty())
    for (const double part : {0.1, 0.25, 0.5, 0.75, 0.9}) rates.push_back(std::max(part * closed, 1.0));
  for (const double rate : rates) {
    if (interrupted.cancelled()) break;
    LatencyReport& report = reports.emplace_back(measure_at(runner, w, one, rate, inputs.pointers()));
    report.closed_loop = closed;
    if (!w.json) print_latency(report);
  }
}

void export_all(const LatencyWish& w, const LatencyReport& r) {
  if (!w.histogram.empty()) {
    const HistogramLogEntry entries[] = {{"response", &r.result.response, 0, r.load_seconds},
                                         {"service", &r.result.service, 0, r.load_seconds},
                                         {"hiccups", &r.hiccups, 0, r.load_seconds}};
    write_file(w.histogram, histogram_log(r.began_s, entries));
  }
  if (!w.percentiles.empty()) write_file(w.percentiles, r.result.response.percentile_distribution());
  if (!w.plot.empty()) write_file(w.plot, latency_plot(r));
}

int run(LatencyWish& w) {
  for (const std::string& path : {w.histogram, w.percentiles, w.plot}) formats::expect_writable(path);
  const std::vector<LatencyCase> cases = latency_cases(w);
  MachineOptions machine = w.machine;
  if (w.rings) machine.priority = 0;   // the thread behind the rings has it, and the first CPU
  if (w.rings && machine.cpus.size() > 1) machine.cpus = {machine.cpus[1]};
  else if (!machine.cpus.empty()) machine.cpus.resize(1);
  const MachineHold hold(machine);
  print_refusals(w, hold.refused());
  if (const auto load = machine_load(); load && load->busy)
    w.console.warn("the machine is loaded (" + text(*load) + "): what is measured holds the work of others, too");
  std::signal(SIGINT, interrupt), std::signal(SIGTERM, interrupt);
  std::vector<LatencyReport> reports;
  for (const LatencyCase& one : cases) measure_case(w, one, reports);
  if (reports.empty()) throw Error(ErrorKind::cancelled, "it was interrupted before anything was measured");
  export_all(w, reports.front());
  if (w.json) std::fputs(latency_json(reports).c_str(), stdout);
  const bool failed = std::any_of(reports.begin(), reports.end(), [](const LatencyReport& r) { return r.result.failed > 0; });
  return failed ? kRunFailed : kOk;
}

}  // namespace

void latency_flags(const UseFlags& use) {
  LatencyWish w;
  use(make_flags(w));
}

int latency_main(const Arguments& arguments) {
  LatencyWish w;
  w.exec.build.threads = 1;
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help || w.full_help) return std::fputs(flags.help(w.full_help).c_str(), stdout), kOk;
  if (!words.empty()) throw UsageError("tenfold latency takes flags alone, not '" + words.front() + "'");
  w.console.show_info = w.console.verbose;
  w.exec.console = w.console;
  w.exec.onnx = w.onnx, w.exec.load_engine = w.onnx.empty() ? w.plan : "";
  check_plan_flags(w.exec);
  w.build = build_config(w.exec);
  w.runner.log = w.console.callback();
  try {
    return run(w);
  } catch (const Error& error) {   // a plan that is missing is refused like one that is cut
    if (!w.runner.strict || w.plan.empty() || error.kind() != ErrorKind::io) throw;
    throw Error(ErrorKind::plan_refused, error.what());
  }
}

}  // namespace tenfold::cli
