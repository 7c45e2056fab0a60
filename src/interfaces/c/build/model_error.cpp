// Lists of a model's problems from C.
#include "tenfold/c/model_error.h"

#include "c/build/builder.h"
#include "tenfold/model_error.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_problems {
  std::vector<ModelProblem> list;
  std::vector<std::string> texts = {};
  explicit tenfold_problems(std::vector<ModelProblem> all) : list(std::move(all)) {
    for (const ModelProblem& p : list) texts.push_back(p.text());
  }
};

struct tenfold_extent_limits {
  std::vector<ExtentLimit> list;
  std::vector<std::string> texts = {};
  explicit tenfold_extent_limits(std::vector<ExtentLimit> all) : list(std::move(all)) {
    for (const ExtentLimit& l : list) texts.push_back(l.text());
  }
};

extern "C" tenfold_status tenfold_model_check(const char* path, const tenfold_build_config* config, tenfold_problems** problems) {
  return guarded([&] {
    place(problems, "the place for the problems",
          [&] { return new tenfold_problems(check_model(&need(path, "the path"), config_of(config))); });
  });
}
extern "C" tenfold_status tenfold_model_extent_limits(const char* path, const tenfold_build_config* config,
                                                      tenfold_extent_limits** limits) {
  return guarded([&] {
    place(limits, "the place for the limits",
          [&] { return new tenfold_extent_limits(extent_limits(&need(path, "the path"), config_of(config))); });
  });
}
extern "C" void tenfold_extent_limits_free(tenfold_extent_limits* limits) { delete limits; }
extern "C" int32_t tenfold_extent_limits_count(const tenfold_extent_limits* limits) {
  return limits ? static_cast<std::int32_t>(limits->list.size()) : 0;
}
extern "C" tenfold_status tenfold_extent_limits_get(const tenfold_extent_limits* limits, int32_t index, tenfold_extent_limit* limit) {
  return guarded([&] {
    const ExtentLimit& l = element(need(limits, "the limits").list, index, "limit");
    give(limit,
         {0, l.input.c_str(), l.dimension.c_str(), l.why.c_str(), limits->texts[static_cast<std::size_t>(index)].c_str(), l.fits.data(),
          static_cast<std::int32_t>(l.fits.size()), l.refused},
         "the place for the limit");
  });
}
extern "C" tenfold_status tenfold_last_problems(tenfold_problems** problems) {
  return guarded([&] { place(problems, "the place for the problems", [&] { return new tenfold_problems(last_problems()); }); });
}
extern "C" void tenfold_problems_free(tenfold_problems* problems) { delete problems; }
extern "C" int32_t tenfold_problems_count(const tenfold_problems* problems) {
  return problems ? static_cast<std::int32_t>(problems->list.size()) : 0;
}
extern "C" tenfold_status tenfold_problems_get(const tenfold_problems* problems, int32_t index, tenfold_problem* problem) {
  return guarded([&] {
    const ModelProblem& p = element(need(problems, "the problems").list, index, "problem");
    give(problem,
         {0, static_cast<tenfold_status>(p.kind) + 1, p.opset, p.node.c_str(), p.op.c_str(), p.domain.c_str(), p.message.c_str(),
          p.hint.c_str(), problems->texts[static_cast<std::size_t>(index)].c_str(), static_cast<std::int32_t>(p.outputs.size()), p.more,
          p.node_index},
         "the place for the problem");
  });
}
extern "C" tenfold_status tenfold_problems_supported(const tenfold_problems* problems, const char* path, uint8_t* supported,
                                                     int32_t* count) {
  return guarded([&] {
    std::vector<std::uint8_t> all;
    for (const ModelPart& part : model_parts(&need(path, "the path"), need(problems, "the problems").list))
      all.insert(all.end(), part.nodes.size(), part.supported);
    give_list(all, supported, count, "the nodes");
  });
}
extern "C" const char* tenfold_problems_output(const tenfold_problems* problems, int32_t index, int32_t output) {
  if (index < 0 || index >= tenfold_problems_count(problems)) return nullptr;
  const std::vector<std::string>& names = problems->list[static_cast<std::size_t>(index)].outputs;
  return output >= 0 && static_cast<std::size_t>(output) < names.size() ? names[static_cast<std::size_t>(output)].c_str() : nullptr;
}
