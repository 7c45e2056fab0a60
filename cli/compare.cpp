// tenfold compare: how far the outputs of two engines, or of an engine and stored ones, lie apart.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "console.h"
#include "files.h"
#include "inputs.h"
#include "measure.h"
#include "model_or_plan.h"
#include "npz.h"
#include "specs.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

// l0: elements that differ; l1, l2, l_inf: norms of the difference; relative: l_inf over the largest magnitude of the second.
struct Distance {
  std::string name, problem;
  double l0 = 0, l1 = 0, l2 = 0, l_inf = 0, relative = 0, cosine = 1;
};

Distance distance(const std::string& name, const Tensor& a, const Tensor& b) {
  Distance d{.name = name};
  if (a.shape() != b.shape()) return d.problem = "shapes differ: " + text(a.shape()) + " and " + text(b.shape()), d;
  if (a.dtype() == DType::string || b.dtype() == DType::string) return d.problem = "strings are not compared", d;
  double aa = 0, bb = 0, ab = 0, largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.as_double(i), y = b.as_double(i);
    if ((std::isnan(x) && std::isnan(y)) || x == y) {
      if (!std::isfinite(x)) continue;  // equal infinities and NaNs agree and have no norm
    } else {
      const double gap = std::abs(x - y);
      d.l0 += 1, d.l1 += gap, d.l2 += gap * gap;
      d.l_inf = std::isnan(gap) || std::isnan(d.l_inf) ? std::nan("") : std::max(d.l_inf, gap);
    }
    aa += x * x, bb += y * y, ab += x * y, largest = std::max(largest, std::abs(y));
  }
  d.l2 = std::sqrt(d.l2);
  d.cosine = aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : aa == bb ? 1 : 0;
  d.relative = d.l_inf == 0 ? 0 : d.l_inf / std::max(largest, 1e-30);
  return d;
}

std::vector<Distance> distances(const Outputs& a, const Outputs& b) {
  std::vector<Distance> all;
  for (const auto& [name, tensor] : a) {
    const auto same = [&, &name = name](const auto& other) { return other.first == name; };
    const auto other = std::find_if(b.begin(), b.end(), same);
    if (other == b.end())
      all.push_back({.name = name, .problem = "the second has no such output"});
    else
      all.push_back(distance(name, tensor, other->second));
  }
  for (const auto& [name, tensor] : b)
    if (std::none_of(a.begin(), a.end(), [&, &name = name](const auto& mine) { return mine.first == name; }))
      all.push_back({.name = name, .problem = "the first has no such output"});
  return all;
}

Outputs run_once(const Engine& engine, const std::map<std::string, Shape>& shapes, const InputFiles& files) {
  const std::vector<Tensor> inputs = make_inputs(engine, run_shapes(engine, -1, shapes, files), files);
  const auto context = make_context(engine, -1, inputs);
  measure({&context, 1}, {.iterations = 1, .warmup_ms = 0, .duration_s = 0});
  return outputs_of(engine, *context);
}

Outputs stored_outputs(const std::string& path, const Engine& engine) {
  const std::string bytes = read_whole(path);
  Outputs outputs;
  for (const auto& [name, array] : parse_npz(bytes, path)) {
    DType type = DType::count_;  // what the engine calls it: NumPy has no name for some types
    for (const BindingInfo& b : engine.bindings())
      if (!b.is_input && b.name == name) type = b.dtype;
    outputs.emplace_back(name, type == DType::count_ ? to_tensor(array, path) : to_tensor(array, type, path + "['" + name + "']"));
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

void print_json(const std::vector<Distance>& all, double tolerance) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Distance& d : all) {
    if (!d.problem.empty())
      list.push_back({{"name", d.name}, {"problem", d.problem}, {"agrees", false}});
    else
      list.push_back({{"name", d.name},
                      {"l0", d.l0},
                      {"l1", d.l1},
                      {"l2", d.l2},
                      {"lInf", d.l_inf},
                      {"relative", d.relative},
                      {"cosine", d.cosine},
                      {"agrees", within(d, tolerance)}});
  }
  std::printf("%s\n", list.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

struct Question {
  std::map<std::string, Shape> shapes;
  std::map<std::string, std::string> files;
  BuildConfig config;
  double tolerance = -1;
  bool reference = false, json = false, help = false;
};

Flags make_flags(Question& q) {
  Flags flags("tenfold compare A [B] [--flags]",
              "Runs A and B (models or plans) on the same inputs and prints how far their outputs lie apart. B may be an .npz of stored\n"
              "outputs, or --reference: A's model on the reference kernels. Inputs are random unless given.");
  flags.group("Flags");
  flags.add_switch("reference", q.reference, "compare the model A with itself, run by the plain reference kernels");
  flags.add({"loadInputs", "SPEC", "name:file, .npy .npz .pb or raw", [&q](const std::string& text) {
               for (auto& [name, file] : parse_pairs("loadInputs", text)) q.files[name] = file;
             }});
  flags.add({"tolerance", "T", "exit 5 if lInf is above T times the largest value of B's output, or shapes differ",
             [&q](const std::string& text) {
               q.tolerance = parse_number("tolerance", text);
               if (!(q.tolerance >= 0)) throw UsageError("--tolerance takes a number of at least 0, not " + text);
             }});
  flags.add_switch("json", q.json, "an array of {name, l0, l1, l2, lInf, relative, cosine, agrees}");
  add_build_flags(flags, q.config);
  flags.add_switch("help", q.help, "this text");
  flags.footer(
      "Columns: l0 counts the elements that differ; l1, l2 and lInf are norms of the difference; cosine is that of the angle between "
      "both.");
  return flags;
}

}  // namespace

int compare_main(const Arguments& arguments) {
  Question q;
  const Flags flags = make_flags(q);
  const auto words = flags.parse(arguments);
  if (q.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() + q.reference != 2)
    throw UsageError("tenfold compare takes two models, plans or stored outputs, or one model and --reference");
  q.config.log = Console{.show_info = false}.callback();
  if (!q.config.profiles.empty())
    for (const auto& [name, range] : q.config.profiles[0]) q.shapes[name] = range.opt;
  const InputFiles files(q.files);
  if (q.config.profiles.empty()) q.config.profiles.emplace_back();
  for (const auto& [name, shape] : files.known_shapes()) q.config.profiles[0].emplace(name, ShapeRange{shape, shape, shape});
  const Engine first = open_model_or_plan(words[0], q.config);
  const Outputs a = run_once(first, q.shapes, files);
  Outputs b;
  if (q.reference) {
    if (is_plan(words[0])) throw UsageError("--reference needs a model: a plan has its kernels chosen");
    BuildConfig plain = q.config;
    plain.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference);
    b = run_once(build_file(words[0], plain), q.shapes, files);
  } else if (extension(words[1]) == ".npz") {
    b = stored_outputs(words[1], first);
  } else {
    b = run_once(open_model_or_plan(words[1], q.config), q.shapes, files);
  }
  const std::vector<Distance> all = distances(a, b);
  q.json ? print_json(all, q.tolerance) : print_table(all);
  for (const Distance& d : all)
    if (!within(d, q.tolerance)) return kAccuracyFailed;
  return kOk;
}

}  // namespace tenfold::cli
