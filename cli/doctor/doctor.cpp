// tenfold doctor: check this machine and collect data for a bug report; --latency: checks it for low-latency use. It changes
// no setting.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "console.h"
#include "doctor/doctor_system.h"
#include "flags/flags.h"
#include "flags/specs.h"
#include "verbs.h"
#include "tenfold/machine.h"
#include "tenfold/open_loop.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Hiccups {
  int cpu = 0;
  LatencyRecorder times;
};

// Two seconds of a loop on each CPU that looks at the clock 100,000 times a second; one CPU after the other.
Hiccups hiccups_of(int cpu, double seconds) {
  Hiccups found{cpu, {}};
  std::thread([&] {   // its affinity ends with it
    const MachineHold hold({.cpus = {cpu}});
    OpenLoopOptions loop;
    loop.rate = 1e5, loop.warm_up = std::chrono::nanoseconds(0);
    loop.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    found.times = std::move(run_idle_loop(loop).response);
  }).join();
  return found;
}

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

void print(const std::vector<MachineFinding>& findings, const std::vector<Hiccups>& hiccups) {
  for (const MachineFinding& f : findings) {
    std::printf("%-4s %-22s %s\n", f.good ? "ok" : "--", f.topic.c_str(), printable(f.found).c_str());
    if (!f.good) std::printf("     %-22s expected: %s\n     %-22s fix: %s\n", "", f.expected.c_str(), "", f.how.c_str());
  }
  std::printf("\nhiccups of an idle loop (us)   p50      p99    p99.9      max\n");
  for (const Hiccups& h : hiccups)
    std::printf("  CPU %-4d               %8.2f %8.2f %8.2f %8.2f\n", h.cpu, us(h.times.percentile(50)), us(h.times.percentile(99)),
                us(h.times.percentile(99.9)), us(h.times.max()));
}

std::string json_of(const std::vector<MachineFinding>& findings, const std::vector<Hiccups>& hiccups) {
  Json json;
  for (const MachineFinding& f : findings)
    json["findings"].push_back({{"topic", f.topic}, {"good", f.good}, {"found", f.found}, {"expected", f.expected}, {"how", f.how}});
  for (const Hiccups& h : hiccups)
    json["hiccups_us"].push_back({{"cpu", h.cpu}, {"p50", us(h.times.percentile(50))}, {"p99", us(h.times.percentile(99))},
                                  {"p99_9", us(h.times.percentile(99.9))}, {"max", us(h.times.max())}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

constexpr const char* kVerdicts[] = {"ok", "--", "FAIL"};

void print(const std::vector<SystemCheck>& checks) {
  for (const SystemCheck& c : checks) {
    std::printf("%-4s %-18s %s\n", kVerdicts[c.verdict], c.topic.c_str(), printable(c.found).c_str());
    if (!c.what_to_do.empty()) std::printf("     %-18s do: %s\n", "", c.what_to_do.c_str());
  }
}

std::string json_of(const std::vector<SystemCheck>& checks) {
  constexpr const char* kNames[] = {"ok", "missing", "fails"};
  Json json;
  for (const SystemCheck& c : checks)
    json["checks"].push_back({{"topic", c.topic}, {"verdict", kNames[c.verdict]}, {"found", c.found}, {"what_to_do", c.what_to_do}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int check(bool json) {
  const std::vector<SystemCheck> checks = check_system();
  if (json) std::fputs(json_of(checks).c_str(), stdout);
  else print(checks);
  const bool fails = std::any_of(checks.begin(), checks.end(), [](const SystemCheck& c) { return c.verdict == SystemCheck::fails; });
  return fails ? kRunFailed : kOk;
}

struct Wish {
  bool latency = false, json = false, help = false;
  double seconds = 2;
  std::vector<int> cpus;
};

Flags make_flags(Wish& w) {
  Flags flags("tenfold doctor [--latency] [--flags]",
              "Prints data for a bug report: versions, processor, memory, GPUs, libraries and their paths, plan cache; and tests each\n"
              "device. Exit code 1: something does not work; the line below it says what to do. --latency checks settings that affect\n"
              "latency instead: current and recommended value, the command, and two seconds of hiccups on each CPU. It changes nothing.");
  flags.group("Flags");
  flags.add_switch("latency", w.latency, "check settings that affect latency");
  flags.add({"cpus", "N[,N...]", "CPUs to check; default: all that this process may use", [&w](const std::string& text) {
               for (const std::string& cpu : split(text, ',')) w.cpus.push_back(parse_int("cpus", cpu, 0));
             }});
  flags.add({"duration", "S", "measure hiccups for S seconds on each CPU (2); 0: not at all",
             [&w](const std::string& text) { w.seconds = parse_number("duration", text, 0); }});
  flags.add_switch("json", w.json, "print JSON"), flags.add_switch("help", w.help, "this text");
  return flags;
}

}  // namespace

void doctor_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int doctor_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const std::vector<std::string> words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (!words.empty()) throw UsageError("tenfold doctor takes no '" + words.front() + "'");
  if (!w.latency) {
    if (!w.cpus.empty()) throw UsageError("--cpus needs --latency");
    return check(w.json);
  }
  if (w.cpus.empty()) w.cpus = allowed_cpus();
  const std::vector<MachineFinding> findings = look_at_machine(w.cpus);
  std::vector<Hiccups> hiccups;
  for (const int cpu : w.cpus)
    if (w.seconds > 0) hiccups.push_back(hiccups_of(cpu, w.seconds));
  if (w.json)
    std::fputs(json_of(findings, hiccups).c_str(), stdout);
  else print(findings, hiccups);
  return kOk;
}

}  // namespace tenfold::cli
