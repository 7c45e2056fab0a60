// tenfold exec: build or load, run, measure, report.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exec_options.h"
#include "files.h"
#include "inputs.h"
#include "io_formats.h"
#include "report.h"
#include "tenfold/device.h"
#include "tenfold/shape_values.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Made {
  Engine engine;
  double build_s = 0, load_ms = -1;  // -1: nothing was loaded
};

void check_device(const ExecOptions& o) {
  if (o.build.device == "cpu" || o.build.device == "null") return;
  std::string names;
  for (const DeviceDescription& d : devices()) {
    if (d.device == o.build.device) return;
    names += (names.empty() ? "" : ", ") + d.device;
  }
  const std::string why = why_no_gpu();
  throw UsageError("there is no device '" + o.build.device + "' here; Tenfold found " + names + (why.empty() ? "" : " (" + why + ")"));
}

Engine refitted(const ExecOptions& o, const Engine& engine) {
  const Clock::time_point start = Clock::now();
  Engine other = engine.refit(read_weights(o.refit_from, o.build));
  o.console.info("Engine refitted from " + o.refit_from + " in " + std::to_string(seconds_since(start)) + " sec.");
  return other;
}

void print_weights(const ExecOptions& o, const Engine& engine) {
  const std::vector<WeightInfo> weights = engine.refittable_weights();
  o.console.result(weights.empty() ? "The plan has no refittable weights: build it with --refit" : "Refittable weights:");
  for (const WeightInfo& w : weights)
    o.console.result(w.name + "  " + std::string(name(w.dtype)) + "[" + text(w.shape) + "]" +
                     (w.fixed.empty() ? "" : "  fixed: its value was " + w.fixed));
}

Made make_engine(const ExecOptions& o, const InputFiles& files) {
  const Clock::time_point start = Clock::now();
  BuildConfig config = o.build;
  config.log = o.console.callback();
  config.progress = progress_printer(o.progress);
  if (!o.load_engine.empty()) {
    const LoadOptions load{.verify_weights = o.verify_weights,
                           .cpu_features = config.cpu_features,
                           .device = config.device == "cpu" ? "" : config.device,
                           .threads = config.threads,
                           .log = config.log};
    Engine engine = o.retune ? retune_file(o.load_engine, config) : Engine::load(o.load_engine, load);
    if (!o.refit_from.empty()) engine = refitted(o, engine);
    const double took = seconds_since(start);
    o.console.info(std::string(o.retune ? "Engine re-tuned in " : "Engine deserialized in ") + std::to_string(took) + " sec.");
    return {std::move(engine), 0, took * 1e3};
  }
  config.profiles = profile_ranges(o, files.known_shapes());
  Engine engine = build_file(o.onnx, config);
  const double took = seconds_since(start);
  o.console.info("Engine built in " + std::to_string(took) + " sec.");
  return {std::move(engine), took, -1};
}

void layer_info(const ExecOptions& o, const Engine& engine) {
  if (!o.export_layer_info.empty()) write_whole(o.export_layer_info, engine.inspect_json() + "\n");
  if (!o.dump_layer_info) return;
  o.console.result("Layer Information:");
  std::fputs(engine.inspect(o.detailed ? 1 : 0).c_str(), stdout);
}

std::string settings_text(const ExecOptions& o, const Engine& engine) {
  std::ostringstream s;
  s << "device = " << engine.info().device << ", threads = " << engine.info().threads << ", streams = " << o.streams
    << (engine.info().on_gpu ? ", CUDA graph = used where no step runs on the host, data transfers = always"
                             : ", CUDA graph = none, spin-wait = short, data transfers = none");
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

void print_json(const ExecOptions& o, const Made& made, const Trace* trace) {
  const EngineInfo& info = made.engine.info();
  Json result{{"model", o.onnx.empty() ? o.load_engine : o.onnx}, {"device", info.device}, {"threads", info.threads}};
  for (const char* key : {"median_ms", "p99_ms", "gpu_compute_ms", "throughput_qps"})
    result[key] = nullptr;  // null: not measured in this run
  if (trace) {
    const Statistics s = statistics(latencies(*trace), {99});
    result["median_ms"] = s.median, result["p99_ms"] = s.percentiles[0];
    if (info.on_gpu) result["gpu_compute_ms"] = statistics(part(*trace, &RunTimes::compute_ms), {}).median;
    result["throughput_qps"] = trace->wall_s > 0 ? static_cast<double>(trace->samples.size()) / trace->wall_s : 0;
  }
  result["build_s"] = o.onnx.empty() ? Json() : Json(made.build_s);
  result["load_ms"] = made.load_ms < 0 ? Json() : Json(made.load_ms);
  result["weight_bytes"] = info.weight_bytes, result["arena_bytes"] = info.arena_bytes;
  result["peak_rss_bytes"] = peak_rss_bytes();
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

Trace infer(const ExecOptions& o, const Engine& engine, const InputFiles& files) {
  if (o.use_profile >= engine.info().profiles)
    throw UsageError("--useProfile=" + std::to_string(o.use_profile) + ": the plan has " + std::to_string(engine.info().profiles) +
                     " profile(s), numbered from 0");
  const std::map<std::string, Shape> given = shapes_given(o);
  const std::vector<Tensor> inputs = make_inputs(engine, run_shapes(engine, o.use_profile, o.shapes, files), files, given);
  std::vector<std::unique_ptr<ExecutionContext>> contexts;
  for (int i = 0; i < o.streams; ++i) contexts.push_back(make_context(engine, o.use_profile, inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    o.console.info("Input '" + engine.bindings()[i].name + "': " + std::string(name(inputs[i].dtype())) + "[" + text(inputs[i].shape()) +
                   "]" +
                   (files.has(engine.bindings()[i].name)    ? ""
                    : is_value(engine.bindings()[i], given) ? ", values given"
                                                            : ", random values"));
  const MeasureOptions how{o.iterations, o.warmup_ms, o.duration_s, engine.info().on_gpu};
  const Trace trace = measure(contexts, how);
  std::ostringstream counts;
  counts << "Warmup completed " << trace.warmup_runs << " queries over " << trace.warmup_ms << " ms; timing trace has "
         << trace.samples.size() << " queries over " << trace.wall_s << " s";
  o.console.info(counts.str());
  const auto outputs = outputs_of(engine, *contexts.front());
  if (!o.export_output.empty()) export_outputs(o.export_output, outputs);
  if (!o.export_times.empty()) export_times(o.export_times, trace);
  if (o.dump_profile || !o.export_profile.empty()) {
    const std::vector<LayerTimes> layers = profile_layers(*contexts.front(), how);
    if (!o.export_profile.empty()) export_profile(o.export_profile, layers);
    if (o.dump_profile) print_profile(o.console, layers);
  }
  if (o.dump_output) print_outputs(o.console, outputs);
  if (o.average_given || o.console.verbose) print_averages(o.console, trace, o.average_runs);
  print_summary(o.console, trace, o.percentiles, settings_text(o, engine));
  return trace;
}

void check_export_name(const ExecOptions& o) {
  const std::string end = extension(o.export_output);
  if (!o.export_output.empty() && end != ".npz" && end != ".json")
    throw UsageError("--exportOutput writes .npz or .json; '" + o.export_output + "' ends in neither");
}

void work(const ExecOptions& o, const std::string& closing) {
  for (const std::string& note : o.notes) o.console.warn(note);
  check_export_name(o);
  check_device(o);
  const InputFiles files(o.load_inputs);
  const Made made = make_engine(o, files);
  check_io_formats(o, made.engine);
  if (!o.save_engine.empty()) {
    made.engine.save(o.save_engine);
    o.console.info("Plan saved to " + o.save_engine);
  }
  layer_info(o, made.engine);
  if (o.dump_refit) print_weights(o, made.engine);
  if (o.skip_inference) {
    o.console.info("Skipped inference phase since --skipInference is added.");
    std::printf("&&&& PASSED %s\n", closing.c_str());
    if (o.json) print_json(o, made, nullptr);
    return;
  }
  const Trace trace = infer(o, made.engine, files);
  std::printf("&&&& PASSED %s\n", closing.c_str());
  if (o.json) print_json(o, made, &trace);
}

// The devices of a list in turn: answers come from the first that works. What is wrong on each of them is told by the last.
void work_on_any(ExecOptions options, const std::string& closing) {
  for (std::string left = options.build.device;;) {
    const std::size_t end = left.find(',');
    options.build.device = left.substr(0, end);
    left.erase(0, end == std::string::npos ? end : end + 1);
    std::string why;
    try {
      return work(options, closing);
    } catch (const UsageError& e) {
      if (end == std::string::npos) throw;
      why = e.what();
    } catch (const Error& e) {
      if (end == std::string::npos || (e.kind() != ErrorKind::device && e.kind() != ErrorKind::out_of_memory)) throw;
      why = e.what();
    }
    options.console.warn("'" + options.build.device + "' does not work (" + why + "): going on with '" + left + "'");
  }
}

}  // namespace

int exec_main(const Arguments& arguments, bool as_trtexec) {
  const ExecOptions options = parse_exec(arguments);
  if (options.help) return std::fputs(exec_help(options.full_help).c_str(), stdout), kOk;
  // Scripts look for these lines by trtexec's own name when they call it so.
  std::string closing = std::string(as_trtexec ? "TensorRT.trtexec" : "Tenfold.exec") + " [Tenfold v" + std::string(version()) + "] # " +
                        (as_trtexec ? "trtexec" : "tenfold exec");
  for (const std::string& argument : arguments) closing += " " + argument;
  std::printf("&&&& RUNNING %s\n", closing.c_str());
  std::fflush(stdout);
  try {
    work_on_any(options, closing);
  } catch (...) {
    std::printf("&&&& FAILED %s\n", closing.c_str());
    throw;  // main says why and chooses the exit code
  }
  return kOk;
}

}  // namespace tenfold::cli
