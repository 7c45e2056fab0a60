// tenfold compare: how far the outputs of two engines, or of an engine and stored ones, lie apart.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "compare/compare_data.h"
#include "compare/distance.h"
#include "compare/layers.h"
#include "compare/onnxruntime.h"
#include "console.h"
#include "data/inputs.h"
#include "engines/engines.h"
#include "flags/specs.h"
#include "formats/arrays/convert.h"
#include "formats/arrays/npz.h"
#include "formats/files.h"
#include "measure/measure.h"
#include "model_or_plan.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

std::vector<Distance> distances(const Outputs& a, const Outputs& b) {
  std::vector<Distance> all;
  for (const auto& [name, tensor] : a) {
    const auto same = [&, &name = name](const auto& other) { return other.first == name; };
    const auto other = std::find_if(b.begin(), b.end(), same);
    if (other == b.end())
      all.push_back({.name = name, .problem = "the second has no such output", .missing = true});
    else
      all.push_back(distance(name, tensor, other->second));
  }
  for (const auto& [name, tensor] : b)
    if (std::none_of(a.begin(), a.end(), [&, &name = name](const auto& mine) { return mine.first == name; }))
      all.push_back({.name = name, .problem = "the first has no such output", .missing = true});
  return all;
}

Outputs run_once(const Engine& engine, const std::map<std::string, Shape>& shapes, const InputFiles& files, ObserverCallback observer) {
  const std::vector<Tensor> inputs = make_inputs(engine, run_shapes(engine, -1, shapes, files), files, shapes);
  const auto context = make_context(engine, inputs, {});
  context->set_observer(std::move(observer));
  measure({&context, 1}, {.iterations = 1, .warmup_ms = 0, .duration_s = 0});
  return outputs_of(engine, *context);
}

Outputs stored_outputs(const std::string& path, const Engine& engine, const Console& console) {
  const std::string bytes = formats::read_whole(path);
  Outputs outputs;
  for (const auto& [name, array] : formats::parse_npz(bytes, path)) {
    DType type = DType::count_;  // what the engine calls it: NumPy has no name for some types
    for (const BindingInfo& b : engine.bindings())
      if (!b.is_input && b.name == name) type = b.dtype;
    formats::Converted made = type == DType::count_ ? formats::Converted{formats::to_tensor(array, path), ""}
                                                    : formats::converted_to(array, type, path + "['" + name + "']");
    if (!made.reported.empty()) console.info(made.reported);
    outputs.emplace_back(name, std::move(made.tensor));
  }
  return outputs;
}

bool within(const Distance& d, double tolerance) { return d.problem.empty() && (tolerance < 0 || d.relative <= tolerance); }

void print_table(const std::vector<Distance>& all) {
  std::printf("%-28s %10s %12s %12s %12s %12s %12s\n", "output", "l0", "l1", "l2", "lInf", "lInf/max", "cosine");
  for (const Distance& d : all) {
    if (!d.problem.empty())
      std::printf("%-28s %s\n", d.name.c_str(), d.problem.c_str());
    else
      std::printf("%-28s %10.0f %12.4g %12.4g %12.4g %12.4g %12.8f\n", d.name.c_str(), d.l0, d.l1, d.l2, d.l_inf, d.relative, d.cosine);
  }
}

// What is a difference between layers where no tolerance is given: more than another order of summation makes.
double layer_tolerance(double tolerance) { return tolerance >= 0 ? tolerance : 1e-3; }

void print_first_difference(const Layers& layers, double tolerance) {
  const double t = layer_tolerance(tolerance);
  if (layers.compared() == 0) return std::printf("\nno layer could be compared: no value inside has the same name in both\n"), void();
  if (const auto first = layers.first_difference(t))
    std::printf("\nfirst layer that differs: %s, value %s: lInf %.4g, lInf/max %.4g, cosine %.8f%s%s\n", first->step.c_str(),
                first->distance.name.c_str(), first->distance.l_inf, first->distance.relative, first->distance.cosine,
                first->distance.problem.empty() ? "" : "; ", first->distance.problem.c_str());
  else
    std::printf("\nno layer differs by more than %g of its largest value (%d values that both have were compared)\n", t, layers.compared());
}

using Json = nlohmann::ordered_json;
Json to_json(const Distance& d) {
  if (!d.problem.empty()) return {{"name", d.name}, {"problem", d.problem}};
  return {{"name", d.name}, {"l0", d.l0}, {"l1", d.l1}, {"l2", d.l2}, {"lInf", d.l_inf}, {"relative", d.relative}, {"cosine", d.cosine}};
}

void print_json(const std::vector<Distance>& all, const Layers* layers, double tolerance) {
  Json root{{"outputs", Json::array()}};
  for (const Distance& d : all) {
    Json one = to_json(d);
    one["agrees"] = tolerance < 0 && d.problem.empty() ? Json() : Json(within(d, tolerance));   // null: nothing was asked
    root["outputs"].push_back(std::move(one));
  }
  if (layers) {
    const auto first = layers->first_difference(layer_tolerance(tolerance));
    root["comparedLayers"] = layers->compared();
    root["firstDifference"] = first ? to_json(first->distance) : Json();
    if (first) root["firstDifference"]["step"] = first->step;
  }
  std::printf("%s\n", root.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

std::vector<BindingInfo> bindings_of(const std::string& model, const ExecOptions& exec) {
  BuildConfig config = exec.build;
  config.profiles = profile_ranges(exec, {});
  return model_bindings(model, config);
}

// The graph of a model or plan on the reference kernels of the CPU, in its own types: what is compared with it is the plan's choice.
Engine on_reference_kernels(const std::string& path, ExecOptions exec, const InputFiles& files) {
  exec.build.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference);
  exec.build.device = "cpu";
  exec.console.hidden = "reference kernel";   // which were asked for
  exec.build.fp16 = exec.build.bf16 = exec.build.auto_precision = exec.int8_requested = exec.fp8_requested = exec.best = false;
  if (!is_plan(path)) return open_model_or_plan(path, exec, files);
  exec.build.log = exec.console.callback();
  return retune_file(path, exec.build);   // which keeps the plan's profiles
}

std::string with_itself(const std::string& model) {
  return "'" + model + "' was built here, so Tenfold was compared with Tenfold: the flags of the build decide what that shows. "
         "--reference compares with the reference kernels; outputs of another runtime are compared as an .npz of arrays by output name";
}

struct Question {
  ExecOptions exec;
  double tolerance = -1;
  DataQuestion data;
  std::string about_data;   // a flag that needs --data
  std::string to;           // another runtime
  bool per_node = false;
  double seconds = 0;       // of its rows
  bool reference = false, json = false, help = false, full_help = false;
};

void add_data_flags(Flags& flags, Question& q) {
  flags.add_text("data", q.data.data, "PATH",
                 "compare on samples, by --metric: .npz, .npy, JPEG, PNG, folders of them, texts, python:FILE.py:NAME; as in exec");
  const auto add = [&](const char* name, const char* value, const char* help, std::function<void(const std::string&)> apply) {
    flags.add({name, value, help, [&q, name, apply](const std::string& text) { q.about_data = name, apply(text); }});
  };
  add("metric", "NAME", "with --data: l2 (the default) and linf, both relative, cosine (1 - it), top1, top5 (share that differs)",
      [&q](const std::string& text) { q.data.metric = text; });
  add("labels", "FILE", "with --data: the class of each sample; reports the accuracy of each",
      [&q](const std::string& text) { q.data.labels = text; });
  add("tokenizer", "FILE", "with --data: the tokenizer.json of texts, or a folder that holds it",
      [&q](const std::string& text) { q.data.tokenizer = text; });
  add("image", "SPEC", "with --data: preprocessing of photographs",
      [&q](const std::string& text) { q.data.image = formats::parse_image_spec(text, "--image"); });
  add("samples", "N", "with --data: at most N samples (100)",
      [&q](const std::string& text) { q.data.samples = parse_int("samples", text, 1); });
}

Flags make_flags(Question& q) {
  q.exec.console.show_info = false, q.exec.progress = "none";
  Flags flags("tenfold compare A [B] [--flags]          (--help=all explains every flag)",
              "Runs A and B (models or plans) on the same inputs and prints the differences of their outputs, and the first layer that\n"
              "differs. B may be an .npz of stored outputs, or --reference: A's graph on the reference kernels. Inputs are random by\n"
              "default. With --to=onnxruntime A's outputs and times are compared with ONNX Runtime's.");
  flags.group("Flags");
  flags.add_switch("reference", q.reference,
                   "compare A with its own graph on the reference kernels (of a plan: the graph before tuning)");
  flags.add({"loadInputs", "SPEC", "name:file, .npy .npz .pb or raw; or one .npz of all",
             [&q](const std::string& text) { parse_files("loadInputs", text, q.exec.load_inputs); }});
  add_data_flags(flags, q);
  flags.add_text("to", q.to, "onnxruntime",
                 "compare the model, or every model of a folder, with ONNX Runtime on CPUs: outputs, and times of runs in turns; "
                 "takes --shapes, --threads, --noTF32, --builderOptimizationLevel, --tolerance and --json");
  flags.add_switch("per-node", q.per_node, "with --to: also every distinct node, alone; first those that lose most beside ONNX Runtime");
  flags.add({"seconds", "S", "with --to: time for a row (0.2)",
             [&q](const std::string& text) { q.seconds = parse_number("seconds", text, 0.01); }});
  flags.add({"tolerance", "T",
             "exit 5 if lInf exceeds T times the largest value of B's output (with --data: if the error exceeds T), or if shapes differ; "
             "also the threshold for layers (0.001)",
             [&q](const std::string& text) { q.tolerance = parse_number("tolerance", text, 0); }});
  flags.add_switch("json", q.json, "{outputs: [{name, l0, l1, l2, lInf, relative, cosine, agrees}], comparedLayers, firstDifference}");
  flags.add_switch("verbose", q.exec.console.verbose, "log builds");
  flags.add({"help", "[all]", "this text; =all: a line for every flag",
             [&q](const std::string& text) { q.help = true, q.full_help = text == "all"; }});
  flags.group("Flags of a build, as in exec");
  add_plan_flags(flags, q.exec, false);
  flags.footer(
      "Columns: l0 counts the elements that differ; l1, l2 and lInf are norms of the difference; cosine is the cosine similarity.");
  return flags;
}

}  // namespace

void compare_flags(const UseFlags& use) {
  Question q;
  use(make_flags(q));
}

int compare_main(const Arguments& arguments) {
  Question q;
  const Flags flags = make_flags(q);
  const auto words = flags.parse(arguments);
  if (q.help) return std::fputs(flags.help(q.full_help).c_str(), stdout), kOk;
  if (!q.to.empty()) compare_to_runtime(q.to, flags, arguments);
  if (q.per_node || q.seconds > 0) throw UsageError("--per-node and --seconds are for --to=onnxruntime");
  if (words.size() + q.reference != 2)
    throw UsageError("tenfold compare takes two models, plans or stored outputs, or one model and --reference or --to=onnxruntime");
  const Console console;
  if (q.data.data.empty() && !q.about_data.empty()) throw UsageError("--" + q.about_data + " is for --data=PATH: say which samples");
  const bool stored = !q.reference && formats::extension(words[1]) == ".npz";
  const std::string& other = q.reference || stored ? words[0] : words[1];
  const std::string& model = is_plan(words[0]) ? other : words[0];
  ExecOptions& exec = q.exec;
  (is_plan(model) ? exec.load_engine : exec.onnx) = model;
  check_plan_flags(exec);
  exec.load_engine.clear(), exec.onnx.clear();
  if (!q.data.data.empty()) {
    if (q.reference || stored || !exec.load_inputs.empty())
      throw UsageError("--data runs two models or plans on its samples: leave out --reference, stored outputs and --loadInputs");
    q.data.tolerance = q.tolerance, q.data.json = q.json;
    return compare_on_data(words[0], words[1], exec, q.data);
  }
  InputFiles files(exec.load_inputs);
  std::optional<Engine> first;
  if (is_plan(words[0])) first = open_model_or_plan(words[0], exec, files);
  if (!exec.load_inputs.empty()) files.fit(first ? first->bindings() : bindings_of(words[0], exec), console);
  if (!first) first = open_model_or_plan(words[0], exec, files);
  Layers layers;
  const Outputs a = run_once(*first, exec.shapes, files, stored ? nullptr : layers.record());
  const Outputs b = stored        ? stored_outputs(words[1], *first, console)
                    : q.reference ? run_once(on_reference_kernels(words[0], exec, files), exec.shapes, files, layers.compare())
                                  : run_once(open_model_or_plan(words[1], exec, files), exec.shapes, files, layers.compare());
  const std::vector<Distance> all = distances(a, b);
  const bool compared = std::any_of(all.begin(), all.end(), [](const Distance& d) { return !d.missing; });
  if (q.json) print_json(all, stored ? nullptr : &layers, q.tolerance);
  else print_table(all);
  if (!q.json && !compared) std::printf("\nnothing could be compared: no tensor name in common\n");
  else if (!q.json && !stored) print_first_difference(layers, q.tolerance);
  if (compared && !q.reference && !stored && is_plan(words[0]) != is_plan(words[1])) console.info(with_itself(model));
  for (const Distance& d : all)
    if (!within(d, q.tolerance)) return kAccuracyFailed;
  return kOk;
}

}  // namespace tenfold::cli
