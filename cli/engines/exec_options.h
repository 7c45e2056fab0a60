// What `tenfold exec` was asked to do.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "console.h"
#include "flags/flags.h"
#include "formats/images/image_spec.h"
#include "tenfold/build.h"

namespace tenfold::cli {

struct ExecOptions {
  std::string onnx, save_engine, load_engine;
  std::string refit_from;          // a model whose weights the plan is to have
  bool refit_from_onnx = false, dump_refit = false;
  // Per profile, as the flags gave them; profile_ranges() fills what is missing as trtexec does.
  struct Ranges {
    std::map<std::string, Shape> min, opt, max;
  };
  std::map<int, Ranges> profiles;
  Ranges calibration_shapes;       // of samples; empty: those of profile `calibration_profile`
  std::optional<int> calibration_profile;
  std::map<std::string, Shape> shapes;
  std::vector<BindingFormat> input_formats, output_formats;  // of --inputIOFormats and --outputIOFormats: of each, or one for all
  struct Sweep {
    std::string input;               // "": the only one
    std::vector<std::int64_t> batches;
  } sweep;                           // of --sweep; no batches: none
  int use_profile = -1;
  std::map<std::string, std::string> load_inputs;
  bool int8_requested = false;         // --int8 or --best: a plain model's products, too, if there is data
  bool fp8_requested = false, int4_requested = false, best = false, strongly_typed = false;
  std::string data, check_data, tokenizer;    // samples that show the ranges of values; samples that check, instead of every second one
  std::optional<formats::ImageSpec> image;  // how photographs among them become the input
  std::string labels, dump_samples, precision_report;
  std::optional<std::vector<std::string>> corrections;   // of --corrections
  std::string calibrator, calibration_cache;   // no calibrator: entropy with a cache, as trtexec, else auto
  int samples = 100;
  int flagged_profile = 0;         // whose ranges the flags that follow --profile give
  bool no_cache = false, level_given = false;
  std::string export_output, export_times, export_profile, export_trace, export_layer_info;
  bool dump_profile = false, dump_layer_info = false, dump_output = false, average_given = false;
  int iterations = 10, average_runs = 10, streams = 0;   // streams 0: as the hint says
  double warmup_ms = 200, duration_s = 3, idle_ms = 0;
  std::vector<double> percentiles = {90, 95, 99};
  // How a GPU is run: --useSpinWait, --useCudaGraph, --noDataTransfers and their opposites.
  Wait wait = Wait::spin_shortly;
  bool graphs = true, transfers = true, device_given = false;
  std::string skip_flag;           // of the two that skip it
  bool skip_inference = false, json = false, retune = false, verify_weights = true, device_code = true, monitor_memory = false;
  bool help = false, full_help = false, version = false;
  bool as_trtexec = false;   // called by its name, by scripts that know its lines
  bool throughput = false;   // --hint
  std::optional<bool> pinned;   // --hostMemory
  bool dump_profiles = false, plan_version_only = false;
  bool detailed = false, layers_hidden = false;   // --profilingVerbosity
  std::vector<std::string> notes;  // what became of flags that are not taken as they stand, said once
  BuildConfig build;
  std::string progress = "auto";
  Console console;
};

// Throws UsageError.
// As trtexec the device is the first GPU unless it is given.
ExecOptions parse_exec(const std::vector<std::string>& arguments, bool as_trtexec);
std::string exec_help(bool full);
// The flags of exec that shape a plan, for other verbs that build one; `with_samples`: those of --data and --max-error among them.
void add_plan_flags(Flags& flags, ExecOptions& options, bool with_samples);
// Once all of them are known, with options.onnx or options.load_engine set; notes go to the console. Throws UsageError.
void check_plan_flags(ExecOptions& options);
void add_hint_flag(Flags& flags, ExecOptions& options);
// The threads that were not given, once all flags are known; of a plan that is loaded engines.cpp decides, for it names the device.
void follow_hint(ExecOptions& options);
// Contexts to run: as given, or as the hint has them for this engine.
int streams_of(const ExecOptions& options, const EngineInfo& info);
// Whether inputs lie in pinned memory, and its kind in a word: as given, or as trtexec has it.
bool pinned_inputs(const ExecOptions& options, const EngineInfo& info);
const char* host_memory(const ExecOptions& options, const EngineInfo& info);
// What to tell where contexts have more threads than there are processors; else empty.
std::string workers_note(const ExecOptions& options, int streams, const EngineInfo& info);
// trtexec's other flags: taken with a note, or refused with the reason.
void trtexec_flags(Flags& flags, ExecOptions& options);
// BuildConfig::tactic_sources after --tacticSources=TEXT. Throws UsageError.
std::uint32_t parse_sources(std::uint32_t mask, const std::string& text, std::vector<std::string>& notes);
// type:order,type:order of --inputIOFormats and its like; every one names a type. Throws UsageError.
std::vector<BindingFormat> parse_io_formats(const std::string& flag, const std::string& text);
// The profiles for the builder: a missing min, opt or max is the nearest one given; without any, --shapes, then `known`
// (shapes of loaded inputs).
OptimizationProfile profile_of(const ExecOptions::Ranges& ranges);   // empty: no flag gave any
std::vector<OptimizationProfile> profile_ranges(const ExecOptions& options, const std::map<std::string, Shape>& known);

}  // namespace tenfold::cli
