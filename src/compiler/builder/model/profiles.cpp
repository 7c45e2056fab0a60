// Matching profiles with a model's inputs.
#include "builder/model/profiles.h"

#include <functional>

#include "base/log.h"
#include "ir/infer_named.h"
#include "ir/shape_advice.h"
#include "tenfold/internal/shape_values.h"

namespace tenfold::builder {
namespace {

plan::Range& range_of(std::vector<plan::Range>& ranges, const std::string& symbol) {
  for (plan::Range& r : ranges)
    if (r.symbol == symbol) return r;
  ranges.push_back({symbol, -1, -1, -1});
  return ranges.back();
}

void set_once(std::int64_t& slot, std::int64_t value, const std::string& symbol, const std::string& input) {
  require(slot < 0 || slot == value, ErrorKind::invalid_argument, "the profile gives '", symbol, "' the values ", slot, " and ", value,
          " (input '", input, "'): equal names must have equal extents");
  slot = value;
}

// A range of values, not of shapes. The run reads them, so what follows from them gets its memory there.
bool takes_values(const ir::Value& input, const ShapeRange& shapes) {
  Shape declared;
  for (ir::Dim d : input.dims()) declared.push_back(d.is_constant() ? d.constant() : -1);
  for (const Shape* s : {&shapes.min, &shapes.opt, &shapes.max})
    if (s->size() != shapes.opt.size() || !(*s == declared || gives_values(input.dtype(), declared, *s))) return false;
  if (shapes.min == declared && shapes.max == declared) return false;
  for (std::size_t i = 0; i < shapes.opt.size(); ++i)
    require(shapes.min[i] <= shapes.opt[i] && shapes.opt[i] <= shapes.max[i], ErrorKind::invalid_argument, "input '", input.name,
            "', element ", i, ": min ", shapes.min[i], ", opt ", shapes.opt[i], ", max ", shapes.max[i], " must not decrease");
  return true;
}

void apply_shapes(const ir::Value& input, const ShapeRange& shapes, std::vector<plan::Range>& ranges) {
  require(input.type.is_tensor(), ErrorKind::invalid_argument, "the profile gives a shape for input '", input.name, "', which is ",
          ir::text(input.type));
  if (takes_values(input, shapes)) return;
  const ir::Dims& dims = input.dims();
  for (const Shape* s : {&shapes.min, &shapes.opt, &shapes.max})
    require(s->size() == dims.size(), ErrorKind::invalid_argument, "input '", input.name, "' is ", ir::text(input.type),
            ", the profile gives it the shape ", text(*s));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t min = shapes.min[d], opt = shapes.opt[d], max = shapes.max[d];
    require(0 <= min && min <= opt && opt <= max && max <= ir::kUnbounded, ErrorKind::invalid_argument, "input '", input.name,
            "', dimension ", d, ": min ", min, ", opt ", opt, ", max ", max, " must not decrease");
    if (dims[d].is_constant()) {
      require(min == dims[d].constant() && max == min, ErrorKind::invalid_argument, "input '", input.name, "' has the fixed extent ",
              dims[d].constant(), " in dimension ", d, ", the profile says ", min, " to ", max);
    } else if (dims[d].is_symbol()) {
      plan::Range& r = range_of(ranges, dims[d].text());
      set_once(r.min, min, r.symbol, input.name), set_once(r.opt, opt, r.symbol, input.name), set_once(r.max, max, r.symbol, input.name);
    }
  }
}

void infer_again(ir::Graph& graph) {
  for (const auto& n : graph.nodes()) ir::infer_named(graph, *n);  // control flow infers its bodies itself
}

// Dynamic dimensions that no profile gives are 1. Each is told once.
void fix_the_rest(const ir::Graph& graph, std::vector<plan::Range>& ranges,
                  const std::function<void(const ir::Value&, const std::string&)>& report) {
  for (const ir::Value* v : graph.inputs)
    for (ir::Dim d : v->type.is_tensor() ? v->dims() : ir::Dims())
      for (const std::string& symbol : d.symbols()) {
        plan::Range& r = range_of(ranges, symbol);
        if (r.max >= 0) continue;
        r.min = r.opt = r.max = 1;
        report(*v, symbol);
      }
}

}  // namespace

std::vector<plan::Range> symbol_ranges(const ir::Graph& graph, const OptimizationProfile& profile, const LogCallback& callback) {
  const Log log(callback);
  std::vector<plan::Range> ranges;
  for (const auto& [name, shapes] : profile) {
    const ir::Value* found = nullptr;
    std::string names;
    for (const ir::Value* v : graph.inputs) {
      if (v->name == name) found = v;
      names += (names.empty() ? "'" : ", '") + v->name + "'";
    }
    require(found != nullptr, ErrorKind::invalid_argument, "the model has no input '", name,
            "', which the profile (--shapes, --minShapes) names; its inputs are: ", names);
    apply_shapes(*found, shapes, ranges);
  }
  fix_the_rest(graph, ranges, [&](const ir::Value& input, const std::string& symbol) {
    log(Severity::warning, "input '", input.name, "' has the dynamic dimension '", symbol, "' and no profile: it is fixed to 1 (give "
        "its extents: ", ir::shape_advice({&input}), ")");
  });
  return ranges;
}

std::string fixed_by_default(const ir::Graph& graph, const OptimizationProfile& profile) {
  std::vector<plan::Range> ranges;
  for (const ir::Value* v : graph.inputs)
    if (const auto given = profile.find(v->name); given != profile.end()) apply_shapes(*v, given->second, ranges);
  std::string all;
  std::vector<const ir::Value*> inputs;
  fix_the_rest(graph, ranges, [&](const ir::Value& input, const std::string& symbol) {
    if (inputs.empty() || inputs.back() != &input) inputs.push_back(&input);
    all += cat(all.empty() ? "" : ", ", "'", symbol, "' of input '", input.name, "'");
  });
  return all.empty() ? "" : cat(all, " had no profile and was fixed to 1 (give its extents: ", ir::shape_advice(inputs), ")");
}

void specialize(ir::Graph& graph, const std::vector<plan::Range>& ranges) {
  std::map<std::string, ir::Dim, std::less<>> fixed;
  for (const plan::Range& r : ranges)
    if (r.min == r.max) fixed.emplace(r.symbol, ir::Dim(r.min));
  for (ir::Symbol& s : graph.symbols)
    for (const plan::Range& r : ranges)
      if (s.name == r.symbol) s.lower = ir::Dim(r.min), s.upper = ir::Dim(r.max);
  for (ir::Value* v : graph.inputs)
    for (ir::Dim& d : v->type.tensor.dims) d = d.substitute(fixed);
  infer_again(graph);
}

std::vector<OptimizationProfile> profiles_of(const BuildConfig& config) {
  std::vector<OptimizationProfile> profiles = config.profiles;
  if (profiles.empty()) profiles.emplace_back();
  return profiles;
}

OptimizationProfile profile_of_samples(const BuildConfig& config) {
  const Calibration& calibration = *config.calibration;
  if (!calibration.shapes.empty()) return calibration.shapes;
  const std::vector<OptimizationProfile> profiles = profiles_of(config);
  require(calibration.profile >= 0 && calibration.profile < static_cast<int>(profiles.size()), ErrorKind::invalid_argument,
          "Calibration::profile is ", calibration.profile, ", and the build has ", profiles.size(),
          profiles.size() == 1 ? " profile" : " profiles", ", numbered from 0");
  return profiles[static_cast<std::size_t>(calibration.profile)];
}

}  // namespace tenfold::builder
