// One row of the comparison of engines, in two processes so that what is measured only loads and runs.
//
//   one_model build MODEL.onnx PLAN THREADS SHAPES fp32|auto|no_tf32      builds the plan; PLAN.facts tells its sizes and times
//   one_model run PLAN THREADS SECONDS SHAPES LOAD [OUTPUT_FOLDER]        prints median and p99 in ms, and notes in PLAN.counts how many
//                                                                         runs these are of; SECONDS 0: one run, for a cold start
//   one_model serve PLAN THREADS SHAPES LOAD      stays: for each line of seconds on its input runs that long, prints each run's ms
//
// SHAPES input_ids:1x128,attention_mask:1x128   LOAD input_ids:FILE,attention_mask:FILE (raw)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tenfold/build.h"

namespace {

using Clock = std::chrono::steady_clock;
using Words = std::map<std::string, std::string>;

Words pairs(const std::string& text) {
  Words result;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) throw std::runtime_error("'" + part + "' is not name:value");
    result[part.substr(0, colon)] = part.substr(colon + 1);
  }
  return result;
}

tenfold::Shape shape_of(const std::string& text) {
  tenfold::Shape shape;
  std::istringstream stream(text);
  for (std::string extent; std::getline(stream, extent, 'x');) shape.push_back(std::stoll(extent));
  return shape;
}

// argv: MODEL PLAN THREADS SHAPES PRECISION
void build(char** argv) {
  const std::string plan = argv[1], precision = argv[4];
  if (precision != "fp32" && precision != "auto" && precision != "no_tf32")
    throw std::runtime_error("unknown precision " + precision + " (fp32, auto or no_tf32)");
  tenfold::BuildConfig config;
  config.threads = std::atoi(argv[2]);
  config.auto_precision = precision == "auto";
  config.tf32 = precision != "no_tf32";
  config.timing_cache = plan + ".timings";
  config.profiles.emplace_back();
  for (const auto& [name, text] : pairs(argv[3])) config.profiles[0][name] = {shape_of(text), shape_of(text), shape_of(text)};
  const auto start = Clock::now();
  const tenfold::Engine engine = tenfold::build_file(argv[0], config);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  engine.save(plan);
  std::ofstream(plan + ".facts") << "{\"weight_bytes\": " << engine.info().weight_bytes
                                 << ", \"arena_bytes\": " << engine.info().arena_bytes
                                 << ", \"scratch_bytes\": " << engine.info().scratch_bytes << ", \"build_s\": " << seconds << "}\n";
}

// Binds every input to the file's content; returns the memory of the first output.
std::pair<const char*, std::int64_t> bind_files(const tenfold::Engine& engine, tenfold::ExecutionContext& context, const Words& shapes,
                                                const Words& files) {
  for (const auto& [name, text] : shapes)
    if (!context.set_input_shape(engine.binding_index(name), shape_of(text)))
      throw std::runtime_error("shape " + text + " of " + name + " was refused");
  std::pair<const char*, std::int64_t> first{nullptr, 0};
  for (const tenfold::BindingInfo& b : engine.bindings()) {
    const int index = engine.binding_index(b.name);
    auto* memory = static_cast<char*>(context.own_memory(index));
    const std::int64_t bytes = tenfold::byte_size(b.dtype, tenfold::element_count(context.shape(index)));
    if (!b.is_input && !first.first) first = {memory, bytes};
    if (b.is_input && !std::ifstream(files.at(b.name), std::ios::binary).read(memory, bytes))
      throw std::runtime_error("no input for " + b.name);
  }
  return first;
}

std::vector<double> time_runs(tenfold::ExecutionContext& context, double seconds) {
  const auto run = [&] {
    const auto start = Clock::now();
    if (const tenfold::Status status = context.run(); !status) throw std::runtime_error(context.describe(status));
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  std::vector<double> times{run()};
  if (seconds <= 0) return times;
  const auto until = [](double s) { return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); };
  for (const auto warm = until(seconds / 10); Clock::now() < warm;) run();
  times.clear();
  for (const auto end = until(seconds); times.empty() || Clock::now() < end;) times.push_back(run());
  return times;
}

// argv: PLAN THREADS SECONDS SHAPES LOAD [OUTPUT_FOLDER]
void measure(char** argv, const char* folder) {
  const Words shapes = pairs(argv[3]);
  tenfold::LoadOptions options;
  options.threads = std::atoi(argv[1]);
  const tenfold::Engine engine = tenfold::Engine::load(argv[0], options);
  const auto context = engine.create_context();
  const auto [output, bytes] = bind_files(engine, *context, shapes, pairs(argv[4]));
  std::vector<double> times = time_runs(*context, std::atof(argv[2]));
  std::sort(times.begin(), times.end());
  if (std::atof(argv[2]) > 0) std::ofstream(std::string(argv[0]) + ".counts", std::ios::app) << times.size() << "\n";
  if (folder) std::ofstream(std::string(folder) + "/output.bin", std::ios::binary).write(output, bytes);
  std::printf("%.6f %.6f\n", times[times.size() / 2], times[std::min(times.size() - 1, times.size() * 99 / 100)]);
}

// argv: PLAN THREADS SHAPES LOAD
void serve(char** argv) {
  tenfold::LoadOptions options;
  options.threads = std::atoi(argv[1]);
  const tenfold::Engine engine = tenfold::Engine::load(argv[0], options);
  const auto context = engine.create_context();
  bind_files(engine, *context, pairs(argv[2]), pairs(argv[3]));
  time_runs(*context, 0);
  std::printf("ready\n"), std::fflush(stdout);
  for (double seconds = 0; std::cin >> seconds;) {
    for (const double ms : time_runs(*context, seconds)) std::printf("%.6f ", ms);
    std::printf("\n"), std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  try {
    if (verb == "build" && argc == 7) return build(argv + 2), 0;
    if (verb == "serve" && argc == 6) return serve(argv + 2), 0;
    if (verb == "run" && (argc == 7 || argc == 8)) return measure(argv + 2, argc == 8 ? argv[7] : nullptr), 0;
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "one_model: %s\n", e.what()), 1;
  }
  std::fprintf(stderr, "usage: one_model build MODEL PLAN THREADS SHAPES fp32|auto|no_tf32\n"
                       "       one_model run PLAN THREADS SECONDS SHAPES LOAD [FOLDER]\n"
                       "       one_model serve PLAN THREADS SHAPES LOAD\n");
  return 2;
}
