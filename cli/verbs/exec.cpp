// tenfold exec: build or load, run, measure, report.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/inputs.h"
#include "engines/batch_sweep.h"
#include "engines/device_list.h"
#include "engines/engines.h"
#include "engines/exec_options.h"
#include "engines/io_formats.h"
#include "flags/specs.h"
#include "formats/files.h"
#include "measure/model_names.h"
#include "measure/report.h"
#include "model_or_plan.h"
#include "notes.h"
#include "progress.h"
#include "verbs.h"
#include "tenfold/device.h"
#include "tenfold/inspect.h"
#include "tenfold/internal/file.h"
#include "tenfold/internal/shape_values.h"
#include "tenfold/machine.h"
#include "tenfold/version.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_weights(const ExecOptions& o, const Engine& engine) {
  const std::vector<WeightInfo> weights = engine.refittable_weights();
  o.console.result(weights.empty() ? "The plan has no refittable weights: build it with --refit" : "Refittable weights:");
  for (const WeightInfo& w : weights)
    o.console.result(w.name + "  " + std::string(name(w.dtype)) + "[" + text(w.shape) + "]" +
                     (w.fixed.empty() ? "" : "  fixed: its value was " + w.fixed));
}

void print_profiles(const ExecOptions& o, const Engine& engine) {
  for (int p = 0; p < engine.info().profiles; ++p) {
    o.console.result("Optimization profile " + std::to_string(p) + ":");
    for (const BindingInfo& b : engine.bindings()) {
      if (!b.is_input) continue;
      const Engine::ProfileShapes s = engine.profile_shapes(p, b.name);
      o.console.result("  '" + b.name + "': min " + text(s.min) + ", opt " + text(s.opt) + ", max " + text(s.max));
    }
  }
}

void layer_info(const ExecOptions& o, const Engine& engine) {
  if (!o.export_layer_info.empty()) write_file(o.export_layer_info, engine.inspect_json() + "\n");
  if (!o.dump_layer_info) return;
  o.console.result("Layer Information:");
  std::fputs(engine.inspect(o.detailed ? 1 : o.layers_hidden ? -1 : 0).c_str(), stdout);
}

std::string settings_text(const ExecOptions& o, const Engine& engine) {
  std::ostringstream s;
  const EngineInfo info = engine.info();
  s << "device = " << info.device << ", threads = " << info.threads << ", streams = " << streams_of(o, info) << ", CUDA graph = "
    << (!engine.info().on_gpu || !o.graphs ? "none"
        : engine.info().waits_in_run       ? "as far as no step runs on the host"
                                           : "used")
    << ", spin-wait = "
    << (!engine.info().on_gpu || o.wait == Wait::spin_shortly ? "short"
        : o.wait == Wait::spin                                ? "always"
                                                              : "none")
    << ", data transfers = " << (info.on_gpu && o.transfers ? "always" : "none");
  if (info.on_gpu && o.transfers) s << ", inputs in " << host_memory(o, info) << " memory, outputs in pinned memory";
  return s.str();
}

// The largest resident size of this program. (getrusage would count the process that started it, too.)
std::int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::int64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  return 0;
}

// What was measured: whole runs, and the parts of runs by the GPU's clock, which cost some microseconds themselves. On CPUs one trace is
// both.
struct Measured {
  Trace runs, parts;
  std::int64_t device_bytes = 0;  // of a GPU's memory, with libraries and what others took meanwhile; see Made::free_before
};

Json sweep_json(const ExecOptions& o, const BatchSweep& sweep) {
  Json rows = Json::array();
  for (const BatchFigures& row : sweep.rows)
    rows.push_back({{"batch", row.batch},
                    {"median_ms", row.median_ms},
                    {"p99_ms", row.p99_ms},
                    {"throughput_qps", row.runs_per_second},
                    {"samples_per_second", row.samples_per_second}});
  return {{"input", o.sweep.input}, {"best_batch", sweep.rows[sweep.best].batch}, {"batches", std::move(rows)}};
}

void print_json(const ExecOptions& o, const Made& made, const Measured* measured, const BatchSweep* sweep = nullptr) {
  const EngineInfo& info = made.engine.info();
  Json result{{"model", o.onnx.empty() ? o.load_engine : o.onnx}, {"device", info.device}, {"threads", info.threads}};
  for (const char* key : {"first_run_ms", "median_ms", "p99_ms", "gpu_compute_ms", "throughput_qps"})
    result[key] = nullptr;  // null: not measured in this run
  if (measured) {
    const Trace& runs = measured->runs;
    const Statistics s = statistics(latencies(runs), {99});
    result["first_run_ms"] = runs.first_ms, result["median_ms"] = s.median, result["p99_ms"] = s.percentiles[0];
    if (info.precomputed_steps > 0) result["precompute_ms"] = runs.precompute_ms;
    if (info.on_gpu) {
      const auto median = [&](double RunTimes::*which) { return statistics(part(measured->parts, which), {}).median; };
      result["gpu_compute_ms"] = median(&RunTimes::compute_ms);
      result["host_to_device_ms"] = median(&RunTimes::host_to_device_ms);
      result["device_to_host_ms"] = median(&RunTimes::device_to_host_ms);
    }
    result["throughput_qps"] = runs.wall_s > 0 ? static_cast<double>(runs.samples.size()) / runs.wall_s : 0;
  }
  if (info.on_gpu) result["host_memory"] = o.transfers ? Json(host_memory(o, info)) : Json();   // null: nothing was copied
  result["streams"] = streams_of(o, info);
  result["build_s"] = o.onnx.empty() ? Json() : Json(made.build_s);
  result["load_ms"] = made.load_ms < 0 ? Json() : Json(made.load_ms);
  result["weight_bytes"] = info.weight_bytes, result["arena_bytes"] = info.arena_bytes;
  result["library_workspace_bytes"] = info.library_workspace_bytes;
  if (measured && made.free_before >= 0) result["device_bytes"] = measured->device_bytes;
  result["peak_rss_bytes"] = peak_rss_bytes();
  if (sweep) result["sweep"] = sweep_json(o, *sweep);
  result["notes"] = notes_json(info.notes);
  std::printf("%s\n", result.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

// --shapes, and where it says nothing what a profile is tuned for: the values of shape tensors.
std::map<std::string, Shape> shapes_given(const ExecOptions& o) {
  std::map<std::string, Shape> given = o.shapes;
  if (!o.profiles.empty()) given.insert(o.profiles.begin()->second.opt.begin(), o.profiles.begin()->second.opt.end());
  return given;
}

bool is_value(const BindingInfo& b, const std::map<std::string, Shape>& given) {
  const auto at = given.find(b.name);
  return at != given.end() && gives_values(b.dtype, b.shape, at->second);
}

// The rest: bindings, kernels, and what driver and libraries take for themselves.
std::string memory_text(std::int64_t taken, const EngineInfo& info, int contexts) {
  const std::int64_t arenas = info.arena_bytes * contexts;
  std::ostringstream s;
  s << taken << " bytes: weights " << info.weight_bytes << ", arenas " << arenas << " (of which workspaces of libraries "
    << info.library_workspace_bytes * contexts << "), all else " << taken - info.weight_bytes - arenas;
  return s.str();
}

Measured measure_all(const ExecOptions& o, const Engine& engine, std::span<const std::unique_ptr<ExecutionContext>> contexts) {
  const Measured measured{measure(contexts, {o.iterations, o.warmup_ms, o.duration_s, o.idle_ms, false}), {}};
  if (!engine.info().on_gpu) return {measured.runs, measured.runs};
  return {measured.runs, measure(contexts, {o.iterations, std::min(o.warmup_ms, 20.0), std::min(o.duration_s, 1.0), o.idle_ms, true})};
}

// The summary's figures that people look for; scripts of trtexec look for the lines above it.
std::string in_short(const Trace& trace) {
  const Statistics s = statistics(latencies(trace), {99});
  char text[160];
  const double rate = trace.wall_s > 0 ? static_cast<double>(trace.samples.size()) / trace.wall_s : 0;
  std::snprintf(text, sizeof text, "In short: a run takes %.3g ms (median; 99 %% take at most %.3g ms), %.*f runs a second", s.median,
                s.percentiles[0], rate < 100 ? 1 : 0, rate);
  return text;
}

Measured infer(const ExecOptions& o, const Made& made, InputFiles& files) {
  const Engine& engine = made.engine;
  if (o.use_profile >= engine.info().profiles)
    throw UsageError("--useProfile=" + std::to_string(o.use_profile) + ": the plan has " + std::to_string(engine.info().profiles) +
                     " profile(s), numbered from 0");
  files.fit(engine.bindings(), o.console);
  const std::map<std::string, Shape> given = shapes_given(o);
  const std::vector<Shape> shapes = run_shapes(engine, o.use_profile, o.shapes, files);
  const std::vector<Tensor> inputs = make_inputs(engine, shapes, files, given, made.sample);
  std::vector<std::unique_ptr<ExecutionContext>> contexts;
  const int streams = streams_of(o, engine.info());
  if (const std::string note = workers_note(o, streams, engine.info()); !note.empty()) o.console.warn(note);
  for (int i = streams; i > 0; --i)
    contexts.push_back(make_context(engine, inputs, {o.use_profile, o.wait, o.graphs, o.detailed, pinned_inputs(o, engine.info())}));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const BindingInfo& b = engine.bindings()[i];
    o.console.info("Input '" + b.name + "': " + std::string(name(b.dtype)) + "[" + text(shapes[i]) + "]" +
                   (!inputs[i].defined()                          ? ", its default"
                    : files.has(b.name)                           ? ""
                    : is_value(b, given)                          ? ", values given"
                    : !gives(made.sample, b)                      ? ", random values"
                    : made.sample.at(b.name).shape() == shapes[i] ? ", the first sample of --data"
                                                                  : ", the first sample of --data, repeated or cut to this shape"));
  }
  double first_ms = -1;
  if (!o.transfers && engine.info().on_gpu)
    for (const auto& context : contexts) {
      const Trace once = measure({&context, 1}, {1, 0, 0, 0, false});  // outputs are those of this run
      if (first_ms < 0) first_ms = once.first_ms;
      leave_on_device(engine, *context);
    }
  Measured measured = measure_all(o, engine, contexts);
  if (first_ms >= 0) measured.runs.first_ms = first_ms;
  if (made.free_before >= 0) {
    measured.device_bytes = made.free_before - free_memory(o.build.device);
    o.console.info("GPU memory taken: " + memory_text(measured.device_bytes, engine.info(), streams));
  }
  const Trace& trace = measured.runs;
  std::ostringstream warmup, counts, first;
  first << "First run: " << trace.first_ms << " ms, on cold caches; later runs are warm";
  warmup << "Warmup completed " << trace.warmup_runs << " queries over " << trace.warmup_ms << " ms";
  counts << "Timing trace has " << trace.samples.size() << " queries over " << trace.wall_s << " s";
  o.console.result(first.str()), o.console.result(warmup.str()), o.console.result(counts.str());
  if (const EngineInfo& info = engine.info(); info.precomputed_steps > 0) {
    std::ostringstream early;
    early << "Newest row: times begin where it is there; " << info.precomputed_steps << " of " << info.steps << " steps come before, "
          << trace.precompute_ms << " ms in the mean, and no row may come in less";
    o.console.result(early.str());
  }
  const auto outputs = outputs_of(engine, *contexts.front());
  if (!o.export_output.empty()) export_outputs(o.export_output, outputs);
  if (!o.export_times.empty()) export_times(o.export_times, measured.parts);
  if (o.dump_profile || !o.export_profile.empty() || !o.export_trace.empty()) {
    std::vector<LayerTimes> layers = profile_layers(*contexts.front(), {o.iterations, o.warmup_ms, o.duration_s, 0, false});
    name_layers(engine, layers);
    if (!o.export_profile.empty()) export_profile(o.export_profile, layers);
    if (!o.export_trace.empty()) export_trace(o.export_trace, measured.parts, layers);
    if (o.dump_profile) print_profile(o.console, layers);
  }
  if (o.dump_output) print_outputs(o.console, outputs);
  const bool on_gpu = engine.info().on_gpu || o.as_trtexec;  // whose readers look for these words
  if (o.average_given) print_averages(o.console, measured.parts, o.average_runs, on_gpu ? "GPU" : "Compute");
  print_summary(o.console, trace, measured.parts, o.percentiles, on_gpu ? "GPU Compute" : "Compute", settings_text(o, engine));
  if (engine.info().on_gpu)  // what the figures may have suffered from
    for (const GpuState& gpu : gpu_states()) o.console.info("GPU: " + text(gpu));
  if (!o.as_trtexec) o.console.result(in_short(trace));
  return measured;
}

// A wrong name or place is told before a build, which may take minutes.
void check_files(const ExecOptions& o) {
  for (const std::string& path : {o.save_engine, o.export_output, o.export_times, o.export_profile, o.export_trace, o.export_layer_info})
    formats::expect_writable(path);
  const std::string end = formats::extension(o.export_output);
  if (!o.export_output.empty() && end != ".npz" && end != ".json")
    throw UsageError("--exportOutput writes .npz or .json; '" + o.export_output + "' ends in neither");
}

// What a build would take its time for, and then refuse. A plan's inputs are known once it is loaded.
void fit_files(const ExecOptions& o, InputFiles& files) {
  if (o.onnx.empty() || files.paths().empty() || is_plan(o.onnx)) return;
  BuildConfig config = o.build;
  config.profiles = profile_ranges(o, {});
  const std::vector<BindingInfo> bindings = model_bindings(o.onnx, config);
  files.fit(bindings, o.console);
  files.expect_shapes(bindings, profile_ranges(o, files.known_shapes()));
}

void answer(const ExecOptions& requested, const Made& made, InputFiles& files, const std::string& closing) {
  ExecOptions o = requested;
  layer_info(o, made.engine);
  if (o.dump_profiles) print_profiles(o, made.engine);
  if (o.dump_refit) print_weights(o, made.engine);
  if (o.skip_inference) {
    o.console.info("Skipped inference phase since --" + o.skip_flag + " is added.");
    std::printf("&&&& PASSED %s\n", closing.c_str());
    if (o.json) print_json(o, made, nullptr);
    return;
  }
  BatchSweep sweep;
  const bool swept = !o.sweep.batches.empty();
  if (swept) sweep = sweep_batches(o, made, files);
  const Measured measured = infer(o, made, files);
  std::printf("&&&& PASSED %s\n", closing.c_str());
  if (o.json) print_json(o, made, &measured, swept ? &sweep : nullptr);
}

// What the file says, whoever it was built for: nothing is loaded.
void print_plan_version(const ExecOptions& o) {
  const PlanVersion version = plan_version(o.load_engine);
  o.console.result("The plan was built by " + (version.builder.empty() ? "a version that does not say which" : version.builder) + ".");
  const std::string reads = std::to_string(version.reads);
  o.console.result("Its file has format " + std::to_string(version.format) +
                   (version.format == version.reads ? ", which this version reads." : "; this version reads format " + reads + "."));
}

void work(const ExecOptions& requested, const std::string& closing) {
  for (const std::string& note : requested.notes) requested.console.warn(note);
  if (requested.plan_version_only) {
    print_plan_version(requested);
    std::printf("&&&& PASSED %s\n", closing.c_str());
    return;
  }
  check_files(requested);
  InputFiles files(requested.load_inputs);
  ExecOptions o = requested;
  if (!o.onnx.empty() && !is_plan(o.onnx)) name_shapes(o);
  resolve_io_formats(o);
  if (!o.sweep.batches.empty()) add_sweep_profiles(o);
  fit_files(o, files);
  if (const std::vector<std::string> devices = split(o.build.device, ','); devices.size() > 1)
    return on_first_device(o, devices, files, [&](const ExecOptions& own, const Made& made) { answer(own, made, files, closing); });
  answer(o, make_and_save(o, files), files, closing);
}

}  // namespace

int exec_main(const Arguments& arguments, bool as_trtexec) {
  const ExecOptions options = parse_exec(arguments, as_trtexec);
  if (options.version) return std::printf("tenfold %s\n", std::string(version()).c_str()), kOk;
  if (options.help) return std::fputs(exec_help(options.full_help).c_str(), stdout), kOk;
  // Scripts look for these lines by trtexec's own name when they call it so.
  std::string closing = std::string(as_trtexec ? "TensorRT.trtexec" : "Tenfold.exec") + " [Tenfold v" + std::string(version()) + "] # " +
                        (as_trtexec ? "trtexec" : "tenfold exec");
  for (const std::string& argument : arguments) closing += " " + argument;
  std::printf("&&&& RUNNING %s\n", closing.c_str());
  std::fflush(stdout);
  try {
    work(options, closing);
  } catch (...) {
    clear_bar();
    std::printf("&&&& FAILED %s\n", closing.c_str());
    throw;  // main says why and chooses the exit code
  }
  return kOk;
}

}  // namespace tenfold::cli
