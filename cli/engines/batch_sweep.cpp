// exec --sweep: several batches of one engine.
#include "engines/batch_sweep.h"

#include <algorithm>
#include <cstdio>

#include "flags/specs.h"
#include "measure/report.h"

namespace tenfold::cli {
namespace {

// "x:1,2,4", "1,2,4" of the only input; a name with ':' stands in single quotes.
void parse_sweep(const std::string& text, ExecOptions& o) {
  const std::size_t last = text.rfind(':');
  const std::string numbers = last == std::string::npos ? text : text.substr(last + 1);
  std::string name = last == std::string::npos ? "" : text.substr(0, last);
  if (name.size() > 1 && name.front() == '\'' && name.back() == '\'') name = name.substr(1, name.size() - 2);
  if (last != std::string::npos && name.empty()) throw UsageError("--sweep: a name is missing in '" + text + "'");
  o.sweep = {name, {}};
  for (const std::string& word : split(numbers, ',')) o.sweep.batches.push_back(parse_int("sweep", word, 1));
}

const BindingInfo& swept_input(const ExecOptions& o, const std::vector<BindingInfo>& bindings) {
  std::string all;
  for (const BindingInfo& b : bindings) {
    if (!b.is_input) continue;
    if (b.name == o.sweep.input) return b;
    all += (all.empty() ? "'" : ", '") + b.name + "'";
  }
  throw UsageError("--sweep: there is no input '" + o.sweep.input + "'; inputs: " + all);
}

void name_input(ExecOptions& o, const std::vector<BindingInfo>& bindings) {
  if (o.sweep.input.empty()) o.sweep.input = with_names({{"", {}}}, "sweep", bindings).begin()->first;
}

// `shape` with this batch wherever the extent's symbol is that of the batch.
Shape with_batch(const BindingInfo& b, Shape shape, const std::string& symbol, std::int64_t batch) {
  for (std::size_t d = 0; d < std::min(shape.size(), b.names.size()); ++d)
    if (!symbol.empty() && b.names[d] == symbol) shape[d] = batch;
  return shape;
}

std::string batch_symbol(const BindingInfo& input) { return input.names.empty() ? "" : input.names[0]; }

std::string dims_text(const BindingInfo& b) {
  std::string text;
  for (std::size_t d = 0; d < b.shape.size(); ++d) {
    const bool named = b.shape[d] < 0 && d < b.names.size() && !b.names[d].empty();
    text += (d ? ", " : "[") + (named ? b.names[d] : std::to_string(b.shape[d]));
  }
  return text + "]";
}

// The first profile that takes these shapes of the swept input; -1: none.
int profile_with(const Engine& engine, const ExecOptions& o, const Shape& shape) {
  for (int p = 0; p < engine.info().profiles; ++p) {
    const Engine::ProfileShapes range = engine.profile_shapes(p, o.sweep.input);
    bool fits = range.min.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = range.min[d] <= shape[d] && shape[d] <= range.max[d];
    if (fits) return p;
  }
  return -1;
}

// The swept input's shape for a batch, but for the batch as --shapes or a profile has it.
Shape shape_for(const Engine& engine, const ExecOptions& o, std::int64_t batch) {
  const auto given = o.shapes.find(o.sweep.input);
  Shape shape = given != o.shapes.end() ? given->second : engine.profile_shapes(0, o.sweep.input).opt;
  if (shape.empty()) throw UsageError("--sweep: input '" + o.sweep.input + "' is a scalar, which has no batch");
  shape[0] = batch;
  return shape;
}

// All batches before any is run, which takes seconds each.
void check_batches(const Engine& engine, const ExecOptions& o) {
  for (const std::int64_t batch : o.sweep.batches) {
    const Shape shape = shape_for(engine, o, batch);
    if (profile_with(engine, o, shape) >= 0) continue;
    std::string ranges;
    for (int p = 0; p < engine.info().profiles; ++p) {
      const Engine::ProfileShapes range = engine.profile_shapes(p, o.sweep.input);
      ranges += (p ? "; " : "") + text(range.min) + (range.min == range.max ? "" : " to " + text(range.max));
    }
    throw UsageError("--sweep: the plan has no profile for " + o.sweep.input + ":" + text(shape) + ", only for " + ranges +
                     "; give other batches, or build it by --onnx=MODEL --sweep=...");
  }
}

// What --shapes gives, with this batch in all of it; inputs that it does not give follow from the swept one.
std::map<std::string, Shape> shapes_for(const Engine& engine, const ExecOptions& o, std::int64_t batch) {
  std::map<std::string, Shape> given = o.shapes;
  const std::string symbol = batch_symbol(swept_input(o, engine.bindings()));
  for (const BindingInfo& b : engine.bindings())
    if (const auto own = given.find(b.name); own != given.end()) own->second = with_batch(b, own->second, symbol, batch);
  given[o.sweep.input] = shape_for(engine, o, batch);
  return given;
}

BatchFigures measure_batch(const ExecOptions& o, const Made& made, const InputFiles& files, std::int64_t batch) {
  const Engine& engine = made.engine;
  const std::map<std::string, Shape> given = shapes_for(engine, o, batch);
  const std::vector<Shape> shapes = run_shapes(engine, profile_with(engine, o, given.at(o.sweep.input)), given, files);
  const std::vector<Tensor> inputs = make_inputs(engine, shapes, files, given, made.sample);
  std::vector<std::unique_ptr<ExecutionContext>> contexts;
  for (int i = streams_of(o, engine.info()); i > 0; --i)
    contexts.push_back(make_context(engine, inputs, {-1, o.wait, o.graphs, false, pinned_inputs(o, engine.info())}));
  if (!o.transfers && engine.info().on_gpu)
    for (const auto& context : contexts) measure({&context, 1}, {1, 0, 0, 0, false}), leave_on_device(engine, *context);
  const Trace trace = measure(contexts, {o.iterations, o.warmup_ms, o.duration_s, o.idle_ms, false});
  const Statistics s = statistics(latencies(trace), {99});
  const double rate = trace.wall_s > 0 ? static_cast<double>(trace.samples.size()) / trace.wall_s : 0;
  return {batch, s.median, s.percentiles[0], rate, rate * static_cast<double>(batch)};
}

int decimals(double rate) { return rate < 100 ? 1 : 0; }

void print_row(const Console& console, const BatchFigures& row) {
  char text[128];
  std::snprintf(text, sizeof text, "%8lld  %11.5g  %11.5g  %11.*f  %11.*f", static_cast<long long>(row.batch), row.median_ms, row.p99_ms,
                decimals(row.runs_per_second), row.runs_per_second, decimals(row.samples_per_second), row.samples_per_second);
  console.result(text);
}

}  // namespace

void add_sweep_flag(Flags& f, ExecOptions& o) {
  f.add({"sweep", "NAME:N,N,...",
         "+measure these batches, the first axis of input NAME, one after the other: latency and samples a second of each, and the best, "
         "with which all else is done; without flags of ranges each batch has a profile of its own",
         [&o](const std::string& text) { parse_sweep(text, o); }});
}

void check_sweep(const ExecOptions& o) {
  if (o.sweep.batches.empty()) return;
  if (!o.load_inputs.empty()) throw UsageError("--sweep and --loadInputs exclude each other: a file has one batch; --data gives samples");
  if (o.use_profile >= 0) throw UsageError("--sweep and --useProfile exclude each other: each batch runs with the profile that it fits");
}

void add_sweep_profiles(ExecOptions& o) {
  if (o.onnx.empty()) return;   // a plan's ranges are fixed
  const std::vector<BindingInfo> bindings = model_bindings(o.onnx, o.build);
  name_input(o, bindings);
  const BindingInfo& input = swept_input(o, bindings);
  if (input.shape.empty() || input.shape[0] != -1)
    throw UsageError("--sweep: input '" + input.name + "' is " + dims_text(input) +
                     ": its first axis is no dynamic batch; export the model with one");
  if (!o.profiles.empty()) return;
  if (!o.shapes.contains(input.name) && std::count(input.shape.begin(), input.shape.end(), -1) > 1)
    throw UsageError("--sweep: input '" + input.name + "' is " + dims_text(input) + ": give its other extents by --shapes=" + input.name +
                     ":1x..., or ranges by --minShapes and --maxShapes");
  for (std::size_t i = 0; i < o.sweep.batches.size(); ++i) {
    const std::int64_t batch = o.sweep.batches[i];
    ExecOptions::Ranges& ranges = o.profiles[static_cast<int>(i)];
    ranges.opt = o.shapes;
    ranges.opt.emplace(input.name, input.shape);
    for (const BindingInfo& b : bindings)
      if (const auto own = ranges.opt.find(b.name); own != ranges.opt.end())
        own->second = with_batch(b, own->second, batch_symbol(input), batch);
    ranges.opt[input.name].at(0) = batch;
  }
}

BatchSweep sweep_batches(ExecOptions& o, const Made& made, const InputFiles& files) {
  const std::vector<BindingInfo>& bindings = made.engine.bindings();
  name_input(o, bindings);
  o.shapes = with_names(std::move(o.shapes), "shapes", bindings);
  swept_input(o, bindings);
  check_batches(made.engine, o);
  o.console.result("");
  o.console.result("=== Batches of '" + o.sweep.input + "' ===");
  o.console.result("   Batch   Median(ms)      P99(ms)       Runs/s    Samples/s");
  BatchSweep sweep;
  for (const std::int64_t batch : o.sweep.batches) {
    sweep.rows.push_back(measure_batch(o, made, files, batch));
    print_row(o.console, sweep.rows.back());
    if (sweep.rows.back().samples_per_second > sweep.rows[sweep.best].samples_per_second) sweep.best = sweep.rows.size() - 1;
  }
  const BatchFigures& best = sweep.rows[sweep.best];
  char words[160];
  std::snprintf(words, sizeof words, "Best: batch %lld, %.*f samples a second, %.3g ms a run; what follows is of it",
                static_cast<long long>(best.batch), decimals(best.samples_per_second), best.samples_per_second, best.median_ms);
  o.console.result(words);
  o.shapes = shapes_for(made.engine, o, best.batch);
  return sweep;
}

}  // namespace tenfold::cli
