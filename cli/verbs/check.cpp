// tenfold check: everything that is wrong with a model, without a build.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "console.h"
#include "flags/flag_words.h"
#include "flags/flags.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "tenfold/build.h"
#include "tenfold/model_error.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const std::vector<ModelProblem>& problems) {
  Json list = Json::array();
  for (const ModelProblem& p : problems) {
    list.push_back({{"kind", std::string(name(p.kind))},
                    {"node", p.node},
                    {"outputs", p.outputs},
                    {"operator", p.op},
                    {"domain", p.domain},
                    {"opset", p.opset},
                    {"message", p.message},
                    {"hint", p.hint}});
    if (p.more > 0) list.back()["more"] = p.more;
  }
  return list;
}

void add(Json& list, const std::vector<ExtentLimit>& limits) {
  for (const ExtentLimit& l : limits)
    list.push_back({{"kind", "extents"}, {"input", l.input}, {"dimension", l.dimension}, {"fits", l.fits}, {"refused", l.refused},
                    {"message", l.text()}});
}

bool is_of_shapes(const ModelProblem& problem) { return problem.hint.find("shapes of inputs") != std::string::npos; }

struct Wish {
  bool json = false, help = false;
  Console console{.show_info = false};
  BuildConfig config;
};

Flags make_flags(Wish& w) {
  Flags flags("tenfold check MODEL.onnx [--json] [--flags]",
              "Lists everything in a model that is invalid or not supported. Exit code: 0 valid and supported, 3 not.\n"
              "For a valid model, it also lists dynamic dimensions that do not work at every size (exporters bake sizes in).");
  flags.group("Flags");
  flags.add_switch("json", w.json,
                   "a list of objects: kind, node, outputs, operator, domain, opset, message, hint; 1000 at most, then one with \"more\"; "
                   "for a valid model, objects of kind \"extents\": input, dimension, fits, refused, message");
  add_import_flags(flags, w.config);
  flags.add_switch("verbose", w.console.verbose, "log the import");
  flags.add_switch("help", w.help, "this text");
  return flags;
}

}  // namespace

void check_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int check_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  const auto words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (words.size() != 1) throw UsageError("tenfold check takes one model, " + std::to_string(words.size()) + " given");
  w.config.log = w.console.callback();
  const std::vector<ModelProblem> problems = check_model(words[0], w.config);
  const std::vector<ExtentLimit> limits = problems.empty() ? extent_limits(words[0], w.config) : std::vector<ExtentLimit>();
  if (w.json) {
    Json list = as_json(problems);
    add(list, limits);
    std::printf("%s\n", list.dump(2, ' ', true, Json::error_handler_t::replace).c_str());
  } else if (problems.empty()) {
    std::printf("%s: valid and supported%s\n", words[0].c_str(), limits.empty() ? "" : ", but not at every size");
    for (const ExtentLimit& limit : limits) std::printf("  %s\n", printable(limit.text()).c_str());
  } else {
    const std::int64_t more = problems.back().more, all = static_cast<std::int64_t>(problems.size()) + (more > 0 ? more - 1 : 0);
    const bool open = std::all_of(problems.begin(), problems.end(), [](const ModelProblem& p) { return is_of_shapes(p) || p.more > 0; });
    std::printf("%s: %lld %s%s\n", words[0].c_str(), static_cast<long long>(all), all == 1 ? "problem" : "problems",
                open ? ", which the shapes of inputs may decide: check it again with --shapes" : "");
    for (const ModelProblem& problem : problems) std::printf("  %s\n", printable(in_flags(problem.text())).c_str());
  }
  return problems.empty() ? kOk : kModelInvalid;
}

}  // namespace tenfold::cli
