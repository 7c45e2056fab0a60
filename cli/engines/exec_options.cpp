// The flags of `tenfold exec`: trtexec's names, defaults and order rules, and ours beside them.
#include "engines/exec_options.h"

#include <algorithm>
#include <utility>

#include "engines/batch_sweep.h"
#include "engines/budget.h"
#include "engines/calibration.h"
#include "engines/precision.h"
#include "flags/specs.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

void parse_pool(ExecOptions& o, const std::string& text) {
  for (const auto& [pool, size] : parse_pairs("memPoolSize", text)) {
    const std::int64_t bytes = parse_bytes("memPoolSize", size);
    if (pool == "workspace") o.build.workspace_bytes = bytes;
    else if (pool == "tacticSharedMem") o.notes.emplace_back("--memPoolSize: tacticSharedMem has no effect: kernels take what they need");
    else throw UsageError("--memPoolSize: the pool '" + pool + "' is not supported by Tenfold; workspace is");
  }
}

void merge(std::map<std::string, Shape>& into, const std::string& flag, const std::string& text) {
  for (auto& [name, shape] : parse_shapes(flag, text, true)) into[name] = shape;
}

void parse_to(const char* flag, const std::string& text, int& to) { to = parse_int(flag, text, 0); }
void parse_to(const char* flag, const std::string& text, double& to) { to = parse_number(flag, text, 0); }

void range_flags(Flags& f, ExecOptions& o) {
  const auto shapes = [&](const char* name, auto member) {
    f.add({name, "SPEC", "+the range that the plan must serve, and the shape it is tuned for",
           [&o, name, member](const std::string& text) { merge(o.profiles[o.flagged_profile].*member, name, text); }});
  };
  f.add({"shapes", "SPEC", "shapes to run with: name:1x3x224x224,other:1x128; 1x3x224x224 alone if there is one input",
         [&o](const std::string& t) { merge(o.shapes, "shapes", t); }});
  shapes("minShapes", &ExecOptions::Ranges::min), shapes("optShapes", &ExecOptions::Ranges::opt),
      shapes("maxShapes", &ExecOptions::Ranges::max);
  f.add({"profile", "N", "+the shape ranges after this flag belong to profile N",
         [&o](const std::string& text) { o.flagged_profile = parse_int("profile", text, 0); }});
}

void format_flags(Flags& f, ExecOptions& o) {
  for (const auto& [name, formats] : {std::pair{"inputIOFormats", &o.input_formats}, std::pair{"outputIOFormats", &o.output_formats}})
    f.add({name, "SPEC",
           "+types and layouts other than the model's, one for each or one for all: fp16:chw,uint8:hwc; values are cast, and hwc makes "
           "[N,C,H,W] an array of [N,H,W,C] (shapes in flags stay the model's)",
           [name = name, formats = formats](const std::string& text) { *formats = parse_io_formats(name, text); }});
}

void import_flags(Flags& f, ExecOptions& o) {
  add_overridable_flag(f, o.build);
  add_plugins_flag(f, o.build);
  f.add({"externalDataDir", "DIR", "+another folder to search for the model's external data (repeatable)",
         [&o](const std::string& text) { o.build.external_data_dirs.push_back(text); }});
}

void model_flags(Flags& f, ExecOptions& o) {
  f.group("Model, plan and shapes");
  f.add_text("onnx", o.onnx, "FILE", "the model to build");
  f.add_text("loadEngine", o.load_engine, "FILE", "a plan to run instead");
  f.add_text("saveEngine", o.save_engine, "FILE", "where to write the plan");
  range_flags(f, o);
  f.add_int("useProfile", o.use_profile, "+run with profile N; default: the first that fits the shapes");
  format_flags(f, o);
  import_flags(f, o);
}

// Those that the table of fields describes: on, off, or a number.
void add_field_flags(Flags& f, BuildConfig& config) {
#define TF_FIELD(type, field, initial, forms, c, flag) \
  if ([[maybe_unused]] type& to = config.field; true) { flag }
#define TF_FLAG_ON(name, help) f.add_switch(name, to, help);
#define TF_FLAG_OFF(name, help) f.add({name, "", help, [&to](const std::string&) { to = false; }});
#define TF_FLAG_NUMBER(name, value, help) \
  f.add({name, value, help, [&to](const std::string& text) { parse_to(name, text, to); }});
#include "tenfold/build_fields.h"
}

// What shapes a plan, but for its ranges and the reading of its model.
void choice_flags(Flags& f, ExecOptions& o, bool with_samples) {
  f.add({"builderOptimizationLevel", "N", "0 times nothing, 3 is the default, 5 searches longest", [&o](const std::string& text) {
           o.build.optimization_level = parse_int("builderOptimizationLevel", text, 0, 5), o.level_given = true;
         }});
  f.add_text("timingCacheFile", o.build.timing_cache, "FILE",
             "timing cache, read and extended; GPU kernels in FILE.kernels; makes later builds fast and identical");
  f.add({"threads", "[N]", "tune for and run on N threads; default: what this process may use", [&o](const std::string& text) {
           if (text.empty()) return o.notes.emplace_back("--threads: every stream already has its own thread"), void();
           o.build.threads = parse_int("threads", text, 1, kMaxThreads);
         }});
  add_precision_flags(f, o);
  add_int8_flag(f, o);
  if (with_samples) add_calibration_flags(f, o), add_budget_flags(f, o);
  add_field_flags(f, o.build);
  add_packing_flag(f, o.build);
  add_newest_row_flag(f, o.build);
  f.add({"memPoolSize", "workspace:MiB", "+memory that a tactic may use while it runs; MiB, or with B, K, M, G",
         [&o](const std::string& text) { parse_pool(o, text); }});
  f.add({"tacticSources", "LIST",
         "+use only these: reference, native, onednn, cublas_lt, cudnn; or add and remove with + and - (default: all but onednn); "
         "TensorRT's names work, too",
         [&o](const std::string& text) { o.build.tactic_sources = parse_sources(o.build.tactic_sources, text, o.notes); }});
  f.add_switch("noBuilderCache", o.no_cache, "+ignore --timingCacheFile");
  add_pass_flags(f, o.build);
  add_kernel_flags(f);
  f.add({"cpuFeatures", "LIST", "+use only these CPU features: avx2,avx512,vnni,avx512bf16,amxint8,amxbf16",
         [&o](const std::string& text) { o.build.cpu_features = parse_cpu_features(text); }});
  for (const char* name : {"versionCompatible", "vc"})
    f.add_switch(name, o.build.version_compatible,
                 "+store the model in the plan (weights twice): another version or device rebuilds it at level 0 on load");
  f.add({"hardwareCompatibilityLevel", "LEVEL",
         "+none, ampere+ or sameComputeCapability: all but none imply --versionCompatible, and on CPUs the plan uses AVX2 only",
         [&o](const std::string& text) {
           const std::string level = lower(text);
           if (level != "none" && level != "ampere+" && level != "samecomputecapability")
             throw UsageError("--hardwareCompatibilityLevel is none, ampere+ or sameComputeCapability, not '" + text + "'");
           o.build.hardware_compatible = level != "none";
         }});
  f.add({"device", "N",
         "cpu (default) or cuda:N; N means cuda:N; of a list (cuda:0,cpu) the first that works, and --saveEngine writes a plan for each "
         "(m.cuda0.plan)",
         [&o](const std::string& text) {
           o.build.device.clear(), o.device_given = true;
           for (const std::string& word : split(text, ',')) {
             const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
             o.build.device += (o.build.device.empty() ? "" : ",") + (number ? "cuda:" + word : word);
           }
         }});
}

void build_flags(Flags& f, ExecOptions& o) {
  f.group("Building");
  choice_flags(f, o, true);
  f.add({"refitFromOnnx", "[MODEL]", "+refit a loaded plan with the weights of MODEL or --onnx: same graph, other values",
         [&o](const std::string& text) { o.refit_from_onnx = true, o.refit_from = text; }});
  f.add_switch("retune", o.retune, "+tune a plan made elsewhere for this machine");
  const auto verbosity = [&f, &o](const char* name, const char* help) {
    f.add({name, "LEVEL", help, [&o, name](const std::string& text) {
             if (text != "layer_names_only" && text != "detailed" && text != "none" && text != "default" && text != "verbose")
               throw UsageError("--" + std::string(name) + " is layer_names_only, detailed or none, not '" + text + "'");
             o.detailed = text == "detailed" || text == "verbose", o.layers_hidden = text == "none";
           }});
  };
  verbosity(
      "profilingVerbosity",
      "+detail of --dumpLayerInfo: layer_names_only; none: bindings only; detailed: also NVTX ranges of runs and (with --noCudaGraph) "
      "steps, for nsys");
  verbosity("nvtxVerbosity", "+old name of --profilingVerbosity"), verbosity("nvtxMode", "+the oldest");
  f.add_text("progress", o.progress, "auto|none|json", "+auto: a bar if stderr is a terminal; json: JSON lines on stderr");
}

void run_flags(Flags& f, ExecOptions& o) {
  f.group("Running and measuring");
  f.add({"loadInputs", "SPEC", "name:file of each input: raw, .npy, .npz, .pb; or one .npz of all; default: the first sample of --data, or "
                               "random values",
         [&o](const std::string& text) { parse_files("loadInputs", text, o.load_inputs); }});
  f.add_int("iterations", o.iterations, "at least N runs (10) ...");
  f.add({"duration", "S", "... and at least S seconds (3)",
         [&o](const std::string& text) { o.duration_s = parse_number("duration", text, 0); }});
  f.add({"warmUp", "MS", "warm up for MS milliseconds (200)",
         [&o](const std::string& text) { o.warmup_ms = parse_number("warmUp", text, 0); }});
  f.add({"avgRuns", "N", "+print averages of N runs", [&o](const std::string& text) {
           o.average_runs = parse_int("avgRuns", text, 1), o.average_given = true;
         }});
  f.add({"percentile", "P,...", "+percentiles of the summary (90,95,99)", [&o](const std::string& text) {
           o.percentiles.clear();
           for (const std::string& word : split(text, ',')) {
             o.percentiles.push_back(parse_number("percentile", word));
             if (!(o.percentiles.back() >= 0 && o.percentiles.back() <= 100))
               throw UsageError("--percentile takes numbers from 0 to 100, not " + word);
           }
         }});
  const auto streams = [&o](const std::string& text) {
    o.streams = parse_int("infStreams", text, 1);
  };
  f.add({"infStreams", "N", "+N contexts in parallel, each on its own thread, with its own workers while there are processors", streams});
  f.add({"streams", "N", "+old name of --infStreams", streams});
  f.add_switch("pinThreads", o.build.pin_threads,
               "+pin the threads of each context to processors, and do not share workers between contexts");
  add_hint_flag(f, o);
  add_sweep_flag(f, o);
  f.add({"idleTime", "MS", "+wait MS milliseconds between two runs (0)",
         [&o](const std::string& text) { o.idle_ms = parse_number("idleTime", text, 0); }});
  for (const auto& [name, help] : {std::pair{"skipInference", "+stop when the plan is built"}, {"buildOnly", "+the same"}})
    f.add({name, "", help, [&o, name = name](const std::string&) { o.skip_inference = true, o.skip_flag = name; }});
  const auto choose = [&f](const char* name, const char* help, auto& option, auto value) {
    f.add({name, "", help, [&option, value](const std::string&) { option = value; }});
  };
  choose("useSpinWait", "+busy-wait for a GPU; default: for 2 ms, then sleep", o.wait, Wait::spin);
  choose("noSpinWait", "+sleep while waiting for a GPU", o.wait, Wait::sleep);
  choose("useCudaGraph", "+run on a GPU as a CUDA graph (default)", o.graphs, true);
  choose("noCudaGraph", "+no CUDA graph: launch the steps one by one", o.graphs, false);
  choose("noDataTransfers", "+exclude copies of inputs and outputs to and from the GPU", o.transfers, false);
  choose("includeDataTransfers", "+include these copies in every run (default)", o.transfers, true);
  f.add({"hostMemory", "pageable|pinned",
         "+where inputs lie that a GPU copies in every run: pageable (default), as a program's arrays do, or pinned, as trtexec has it, "
         "which copies several times as fast; outputs are always in pinned memory",
         [&o](const std::string& text) {
           if (text != "pageable" && text != "pinned") throw UsageError("--hostMemory is pageable or pinned, not '" + text + "'");
           o.pinned = text == "pinned";
         }});
  f.add_switch("monitorMemory", o.monitor_memory, "+report the GPU memory of the engine and its contexts");
  f.add({"noWeightVerification", "", "+do not verify the weights' checksums when loading",
         [&o](const std::string&) { o.verify_weights = false; }});
  f.add({"noDeviceCode", "", "+do not run machine code stored in a plan (untrusted files): compile its kernels again",
         [&o](const std::string&) { o.device_code = false; }});
}

void report_flags(Flags& f, ExecOptions& o) {
  f.group("Reporting");
  f.add_text("exportOutput", o.export_output, "FILE", "outputs as .npz (arrays by tensor name) or .json");
  f.add_switch("json", o.json, "the result as one JSON object on the last line");
  f.add_switch("dumpProfile", o.dump_profile, "time of every layer, from a separate run");
  f.add_switch("dumpLayerInfo", o.dump_layer_info, "the layers of the plan");
  f.add_switch("dumpOptimizationProfile", o.dump_profiles, "+print the shape ranges that the plan serves");
  f.add_switch("getPlanVersionOnly", o.plan_version_only, "+print which version built the plan, and stop");
  f.add_switch("dumpRefit", o.dump_refit, "+print the weights of a refittable plan, and why some are fixed");
  f.add_switch("dumpOutput", o.dump_output, "+print the values of the outputs");
  f.add_text("exportTimes", o.export_times, "FILE", "+times of each run, JSON");
  f.add_text("exportProfile", o.export_profile, "FILE", "+what --dumpProfile prints, JSON");
  f.add_text("exportTrace", o.export_trace, "FILE",
             "+timeline of all runs and copies by stream, and of the layers of one run, for Perfetto and chrome://tracing");
  f.add_text("exportLayerInfo", o.export_layer_info, "FILE", "+what --dumpLayerInfo prints, JSON");
  f.add_switch("verbose", o.console.verbose, "+log everything: passes, candidates of each problem with times, memory");
  f.add_switch("version", o.version, "+the version of this program");
  f.add({"help", "[all]", "+this text; =all: a line for every flag", [&o](const std::string& text) {
           if (!text.empty() && text != "all") throw UsageError("--help or --help=all");
           o.help = true, o.full_help = text == "all";
         }});
}

Flags make_flags(ExecOptions& o) {
  Flags f("tenfold exec --onnx=MODEL | --loadEngine=PLAN [--flags]          (--help=all explains every flag)",
          "Builds a model or loads a plan, runs it on random or given inputs and prints its speed. Takes trtexec's flags.");
  model_flags(f, o), build_flags(f, o), run_flags(f, o), report_flags(f, o), trtexec_flags(f, o);
  f.footer(
      "SPEC is name:value,name:value; a name with ':' or ',' stands in 'single quotes'. Several shape ranges: --profile=0 --minShapes=... "
      "--profile=1 ...\n"
      "Run exactly once: --iterations=1 --duration=0 --warmUp=0. Exit codes: 0 ok, 1 run or files, 2 usage, 3 model, 4 plan, 5 accuracy, 6 "
      "memory.");
  return f;
}

// trtexec names the model of a refit with --onnx; --refitFromOnnx=MODEL says it in one word.
void take_refit_model(ExecOptions& o) {
  if (o.load_engine.empty()) throw UsageError("--refitFromOnnx needs --loadEngine=PLAN");
  if (o.retune) throw UsageError("--refitFromOnnx and --retune exclude each other: re-tune first, save, then refit");
  if (o.refit_from.empty()) o.refit_from = std::exchange(o.onnx, "");
  if (o.refit_from.empty()) throw UsageError("--refitFromOnnx takes the model with the new weights: --refitFromOnnx=MODEL");
}

// trtexec works on a GPU. Where there is none the CPU is better than nothing, if that is said.
void take_trtexec_device(ExecOptions& o) {
  for (const DeviceDescription& d : devices())
    if (is_gpu(d.device)) {
      o.build.device = d.device;
      return o.notes.push_back("as trtexec the device is " + d.device + " (" + d.name + "); --device names another"), void();
    }
  const std::string why = why_no_gpu();
  o.notes.push_back("as trtexec the device would be a GPU, and there is none" + (why.empty() ? "" : " (" + why + ")") + ": it is the CPU");
}

// What --onnx and --retune would look at.
void note_what_a_plan_has_settled(ExecOptions& o) {
  const auto note = [&](bool given, const char* flag) {
    if (given) o.notes.push_back(std::string(flag) + " has no effect: the plan's kernels were chosen when it was built");
  };
  note(o.build.fp16, "--fp16"), note(o.build.bf16, "--bf16"), note(!o.build.tf32, "--noTF32");
  note(!o.build.winograd, "--noWinograd"), note(!o.build.strassen, "--noStrassen"), note(!o.build.fast_exp, "--noFastExp");
  note(!o.build.timing_cache.empty(), "--timingCacheFile"), note(o.build.tactic_sources != BuildConfig{}.tactic_sources, "--tacticSources");
}

void check_numbers(const ExecOptions& o) {
  for (auto it = o.profiles.begin(); it != o.profiles.end(); ++it)
    if (it->first != std::distance(o.profiles.begin(), it))
      throw UsageError("profiles are numbered from 0 without gaps; there is a profile " + std::to_string(it->first));
}

}  // namespace

ExecOptions parse_exec(const std::vector<std::string>& arguments, bool as_trtexec) {
  ExecOptions o;
  o.as_trtexec = as_trtexec;
  const std::vector<std::string> words = make_flags(o).parse(arguments);
  if (o.help || o.version) return o;
  if (!words.empty()) throw UsageError("unexpected '" + words.front() + "': models are given as --onnx=FILE, plans as --loadEngine=FILE");
  if (o.refit_from_onnx) take_refit_model(o);
  if (o.onnx.empty() == o.load_engine.empty())
    throw UsageError(o.onnx.empty() ? "give a model with --onnx=FILE or a plan with --loadEngine=FILE"
                                    : "--onnx and --loadEngine exclude each other");
  if (o.no_cache) o.build.timing_cache.clear();
  if (o.plan_version_only && o.load_engine.empty()) throw UsageError("--getPlanVersionOnly needs --loadEngine=PLAN");
  if (as_trtexec && !o.device_given && (o.load_engine.empty() || o.retune)) take_trtexec_device(o);
  follow_hint(o);
  if (!o.onnx.empty() && o.use_profile >= std::max<int>(1, static_cast<int>(o.profiles.size())))
    throw UsageError("--useProfile=" + std::to_string(o.use_profile) + ": there are " +
                     std::to_string(std::max<std::size_t>(1, o.profiles.size())) + " profile(s), numbered from 0");
  if (!o.load_engine.empty() && !o.retune) note_what_a_plan_has_settled(o);
  check_precision(o);
  check_budget(o);
  if (!o.load_engine.empty() && !o.retune && !o.profiles.empty())
    throw UsageError("--minShapes, --optShapes and --maxShapes need --onnx: a plan's ranges are fixed when it is built");
  if (o.retune && o.load_engine.empty()) throw UsageError("--retune needs --loadEngine=PLAN");
  check_calibration(o);
  check_numbers(o);
  check_sweep(o);
  return o;
}

void add_plan_flags(Flags& f, ExecOptions& o, bool with_samples) {
  range_flags(f, o), import_flags(f, o), choice_flags(f, o, with_samples);
}

void check_plan_flags(ExecOptions& o) {
  if (o.no_cache) o.build.timing_cache.clear();
  if (!o.load_engine.empty()) note_what_a_plan_has_settled(o);
  check_precision(o), check_budget(o), check_calibration(o), check_numbers(o);
  for (const std::string& note : std::exchange(o.notes, {})) o.console.warn(note);
}

void exec_flags(const UseFlags& use) {
  ExecOptions o;
  use(make_flags(o));
}

std::string exec_help(bool full) {
  std::string text;
  exec_flags([&](const Flags& flags) { text = flags.help(full); });
  return text;
}

}  // namespace tenfold::cli
