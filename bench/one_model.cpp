// Times one model for cpu_peers.py: loads its plan, or builds and keeps it, runs it for some seconds, prints median and p99 in ms.
//
//   one_model MODEL.onnx PLAN THREADS SECONDS SHAPES LOAD [OUTPUT_FOLDER]
//
// SHAPES input_ids:1x128,attention_mask:1x128   LOAD input_ids:FILE,attention_mask:FILE (raw)   SECONDS 0: one run, for a cold start
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

tenfold::Engine open(const std::string& model, const std::string& plan, int threads, const Words& shapes) {
  tenfold::LoadOptions options;
  options.threads = threads;
  if (std::filesystem::exists(plan)) return tenfold::Engine::load(plan, options);
  tenfold::BuildConfig config;
  config.threads = threads;
  config.timing_cache = plan + ".timings";
  config.profiles.emplace_back();
  for (const auto& [name, text] : shapes) config.profiles[0][name] = {shape_of(text), shape_of(text), shape_of(text)};
  tenfold::Engine engine = tenfold::build_file(model, config);
  engine.save(plan);
  return engine;
}

// Binds every input to the file's content; returns the memory of the first output.
std::pair<const char*, std::int64_t> bind_files(const tenfold::Engine& engine, tenfold::ExecutionContext& context, const Words& shapes,
                                                const Words& files) {
  for (const auto& [name, text] : shapes)
    if (!context.set_input_shape(engine.binding_index(name), shape_of(text))) throw std::runtime_error("shape " + text + " of " + name + " was refused");
  std::pair<const char*, std::int64_t> first{nullptr, 0};
  for (const tenfold::BindingInfo& b : engine.bindings()) {
    const int index = engine.binding_index(b.name);
    auto* memory = static_cast<char*>(context.own_memory(index));
    const std::int64_t bytes = tenfold::byte_size(b.dtype, tenfold::element_count(context.shape(index)));
    if (!b.is_input && !first.first) first = {memory, bytes};
    if (b.is_input && !std::ifstream(files.at(b.name), std::ios::binary).read(memory, bytes)) throw std::runtime_error("no input for " + b.name);
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

void measure(char** argv, const char* folder) {
  const Words shapes = pairs(argv[5]);
  const tenfold::Engine engine = open(argv[1], argv[2], std::atoi(argv[3]), shapes);
  const auto context = engine.create_context();
  const auto [output, bytes] = bind_files(engine, *context, shapes, pairs(argv[6]));
  std::vector<double> times = time_runs(*context, std::atof(argv[4]));
  std::sort(times.begin(), times.end());
  if (folder) std::ofstream(std::string(folder) + "/output.bin", std::ios::binary).write(output, bytes);
  std::printf("%.6f %.6f\n", times[times.size() / 2], times[std::min(times.size() - 1, times.size() * 99 / 100)]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7 || argc > 8) return std::fprintf(stderr, "usage: one_model MODEL PLAN THREADS SECONDS SHAPES LOAD [OUTPUT_FOLDER]\n"), 2;
  try {
    measure(argv, argc > 7 ? argv[7] : nullptr);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "one_model: %s\n", e.what()), 1;
  }
}
