// tenfold inspect: a model or plan step by step, and with --why what the tuner tried for each step.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "console.h"
#include "engines/engines.h"
#include "flags/flags.h"
#include "flags/specs.h"
#include "inspect/why.h"
#include "measure/model_names.h"
#include "model_or_plan.h"
#include "notes.h"
#include "server_program.h"
#include "verbs.h"
#include "tenfold/inspect.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(double nanoseconds) {
  if (nanoseconds < 0) return "-";
  char text[32];
  if (nanoseconds < 1e6)
    std::snprintf(text, sizeof text, "%.2f us", nanoseconds / 1e3);
  else
    std::snprintf(text, sizeof text, "%.3f ms", nanoseconds / 1e6);
  return text;
}

void print_overflow(const BuildReport& report) {
  if (report.overflow_checked_on == CheckedOn::nothing) return;
  std::printf("\nResults beyond what f16 holds were looked for on %s%s: %s\n", name_of(report.overflow_checked_on),
              report.overflow_checked_on == CheckedOn::random_inputs ? " only (give real ones: --loadInputs)" : "",
              report.kept_in_f32.empty() ? "none" : "these stay f32");
  for (const WideReport& w : report.kept_in_f32)
    std::printf("  %s (%s), up to %g\n", w.node.c_str(), w.op.c_str(), w.largest);
}

void print_why(const BuildReport& report) {
  std::printf("Why each step runs as it does. Below a step: its operator with operands (! a constant), attributes, results.\n"
              "Below that what was tried: * chosen; in brackets the kernel's parameters; a time, or the reason against it.\n");
  for (const StepReport& step : report.steps) {
    std::printf("\n%s\n  %s\n", step.node.c_str(), step.problem.c_str());
    for (const TacticReport& t : step.tried) {
      const std::string tactic = t.tactic + (t.config.empty() ? "" : " [" + t.config + "]");
      std::printf("  %c %-48s %12s%s%s\n", t.chosen ? '*' : ' ', tactic.c_str(), time_text(t.nanoseconds).c_str(),
                  t.verdict.empty() ? "" : "  ", t.verdict.c_str());
    }
  }
  std::printf("\n%zu steps, %d candidates timed, %d of them twice, %d times from the cache; ", report.steps.size(), report.timed,
              report.timed_again, report.cache_hits);
  std::printf("import %.3f s, passes %.3f s, tuning %.3f s, assembly %.3f s\n", report.import_s, report.passes_s, report.tune_s,
              report.assemble_s);
  print_overflow(report);
  if (report.disturbed > 0)
    std::printf("%d of the times taken twice differ, by up to %.*f times: other programs took the processor meanwhile; build again on an "
                "idle machine, or time each more often (--avgTiming=N)\n",
                report.disturbed, report.disturbance < 10 ? 1 : 0, report.disturbance);
}

void print_text(const Engine& engine) {
  const EngineInfo& info = engine.info();
  const auto bytes = [](std::int64_t n) { return static_cast<long long>(n); };
  std::printf("%d %s, %d %s, weights %lld bytes, arena %lld bytes (largest live sum %lld; workspaces of libraries %lld)\n\n",
              info.steps, info.steps == 1 ? "step" : "steps", info.profiles, info.profiles == 1 ? "profile" : "profiles",
              bytes(info.weight_bytes), bytes(info.arena_bytes), bytes(info.arena_live_bytes), bytes(info.library_workspace_bytes));
  print_notes(info.notes);
  std::fputs(engine.inspect(1).c_str(), stdout);
}

// A plan that cannot be loaded here, and why.
void show_unopened(const std::string& path, const std::string& why, const std::string& find, bool json) {
  const PlanFileInspection file = inspect_plan(path);   // one that is damaged is refused
  if (!find.empty()) {
    std::fputs(matches_text(file.plan, find).c_str(), stdout);
  } else if (json) {
    Json root = Json::parse(file.json);
    root["NotLoaded"] = why;
    root["PluginOperators"] = file.plan.plugin_operators;
    std::printf("%s\n", root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    std::printf("This plan cannot be loaded here: %s\n", printable(why).c_str());
    for (const std::string& op : file.plan.plugin_operators) {
      const std::size_t dot = op.rfind('.');
      std::printf("It needs a plug-in that gives the operator %s of the domain '%s' (--plugins=FILE)\n",
                  printable(op.substr(dot + 1)).c_str(), printable(dot == std::string::npos ? "" : op.substr(0, dot)).c_str());
    }
    std::printf("\n");
    std::fputs(file.text[2].c_str(), stdout);
  }
}

struct Wish {
  bool json = false, why = false, help = false, full_help = false;
  ExecOptions exec;
  std::string find, config;
};

Flags make_flags(Wish& w) {
  w.exec.console.show_info = false, w.exec.progress = "none";
  Flags flags("tenfold inspect MODEL.onnx | PLAN [--find=NAME] [--why] [--json] [--flags]          (--help=all explains every flag)",
              "Shows the steps of a plan, or of a model's plan: operators, tactics, shapes, memory offsets; of a GPU's what is left "
              "to the host, and why.");
  flags.group("Flags");
  flags.add_switch("why", w.why, "build the model and list for each step every tactic with its time, or why it was refused");
  flags.add_switch("json", w.json,
                   "the layer information of --exportLayerInfo; with --why a key \"Why\" beside it, with --fp16 on a GPU \"Overflow\"");
  flags.add_text("find", w.find, "NAME", "find a node or tensor of the model in the plan, or why it is not there");
  flags.add_text("config", w.config, "DIR", "print the completed configuration of a model of a server's repository (config.pbtxt) instead");
  flags.add_switch("verbose", w.exec.console.verbose, "log the build");
  flags.add({"help", "[all]", "this text; =all: a line for every flag",
             [&w](const std::string& text) { w.help = true, w.full_help = text == "all"; }});
  flags.group("Flags of the build, as in exec; without --why nothing is timed (--builderOptimizationLevel=0)");
  add_plan_flags(flags, w.exec, true);
  flags.add({"loadInputs", "SPEC", "+values of inputs: --fp16 finds values that fp16 cannot hold, as in exec",
             [&w](const std::string& text) { parse_files("loadInputs", text, w.exec.load_inputs); }});
  return flags;
}

}  // namespace

void inspect_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int inspect_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const auto words = flags.parse(arguments);
  const auto& [json, why, help, full_help, exec, find, config] = w;
  if (help) return std::fputs(flags.help(full_help).c_str(), stdout), kOk;
  if (!config.empty()) run_server({"--print-model-config=" + config});
  if (words.size() != 1) throw UsageError("tenfold inspect takes one model or plan, " + std::to_string(words.size()) + " given");
  const bool plan = is_plan(words[0]);
  if (plan && why) throw UsageError("--why needs the model: a plan does not keep what was tried");
  if (!exec.level_given && !why) w.exec.build.optimization_level = 0;
  (plan ? w.exec.load_engine : w.exec.onnx) = words[0];
  check_plan_flags(w.exec);
  BuildReport report;
  const LoadOptions load{.plugins = exec.build.plugins, .log = exec.console.callback()};
  std::optional<Engine> opened;
  try {
    opened = plan ? Engine::load(words[0], load) : build_model(exec, InputFiles(exec.load_inputs), &report);
  } catch (const Error& e) {   // another device, other features, plug-ins that were not given: what the file says can be shown
    if (!plan || e.kind() == ErrorKind::io || e.kind() == ErrorKind::out_of_memory) throw;
    return show_unopened(words[0], e.what(), find, json), kOk;
  }
  const Engine& engine = *opened;
  if (!find.empty()) {
    std::fputs(matches_text(engine.inspection(), find).c_str(), stdout);
  } else if (json) {
    Json root = Json::parse(engine.inspect_json());
    root["Notes"] = notes_json(engine.info().notes);
    if (why) root["Why"] = why_json(report);
    if (report.overflow_checked_on != CheckedOn::nothing) root["Overflow"] = overflow_json(report);
    std::printf("%s\n", root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else if (why) {
    print_why(report);
    std::printf("\n");
    print_notes(engine.info().notes);
  } else {
    print_text(engine);
    print_overflow(report);
  }
  return kOk;
}

}  // namespace tenfold::cli
