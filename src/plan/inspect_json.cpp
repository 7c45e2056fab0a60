// The JSON form. Keys are TensorRT's, so that tools which read its layer information read ours; "Summary" is our addition.
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "plan/inspect.h"

namespace tenfold::plan {
namespace {

using Json = nlohmann::ordered_json;

// Names come from models and may hold any bytes; JSON holds UTF-8.
std::string clean(const std::string& raw) {
  const std::string quoted = Json(raw).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

std::string format_text(const Operand& o) {
  return o.layout == backends::kChannelsLast ? "Channels last" : "Row major linear";
}

Json operands_json(const Plan& plan, const Program& top, const std::vector<Operand>& operands) {
  Json list = Json::array();
  for (const Operand& o : operands) {
    if (o.at.space == Space::none) continue;
    Json dims = Json::array();
    for (DimIndex d : o.dims) {
      const ir::Dim dim = top.dims.at(static_cast<std::size_t>(d));
      dims.push_back(dim.is_constant() ? Json(dim.constant()) : Json(clean(dim.text())));
    }
    Json item{{"Name", clean(o.name.empty() ? place_text(plan, o) : o.name)},
              {"Location", clean(place_text(plan, o))},
              {"Dimensions", dims},
              {"Format/Datatype", cat(format_text(o), " ", name(o.dtype), o.packed ? " packed" : "")}};
    if (o.packed) item["PackedBytes"] = plan.constants.at(static_cast<std::size_t>(o.at.index)).bytes;
    list.push_back(std::move(item));
  }
  return list;
}

void add_layers(Json& layers, const Plan& plan, const Program& top, const Program& program, int profile, const std::string& parent) {
  for (const Step& step : program.steps) {
    Json layer{{"Name", clean(step.name)}, {"LayerType", clean(step.op)}, {"Inputs", operands_json(plan, top, step.in)},
               {"Outputs", operands_json(plan, top, step.out)}, {"ParameterType", step.op.empty() ? "Copy" : clean(step.op)},
               {"TacticName", step.kind == StepKind::kernel ? clean(step.tactic) : std::string(kind_text(step.kind))}, {"StreamId", 0},
               {"Metadata", ""}, {"Profile", profile}};
    if (step.kind == StepKind::kernel) layer["TacticValue"] = cat("v", step.tactic_version), layer["TacticConfig"] = step.config;
    if (!step.attributes.empty()) layer["Attributes"] = clean(ir::text(step.attributes));
    if (const std::string words = ir::text(step.numerics); !words.empty()) layer["Numerics"] = words;
    if (step.has_body) layer["Body"] = clean(ir::text(step.body));
    if (!parent.empty()) layer["Parent"] = clean(parent);
    layers.push_back(std::move(layer));
    for (const Program& nested : step.programs) add_layers(layers, plan, top, nested, profile, step.name);
  }
}

}  // namespace

std::string inspect_json(const Plan& plan) {
  Json root{{"Layers", Json::array()}, {"Bindings", Json::array()}};
  std::int64_t arena = 0, live = 0, steps = 0;
  for (std::size_t p = 0; p < plan.programs.size(); ++p) {
    const Program& program = plan.programs[p];
    add_layers(root["Layers"], plan, program, program, static_cast<int>(p), "");
    if (program.arena_bytes >= arena) arena = program.arena_bytes, live = program.arena_live_bytes;
    steps += static_cast<std::int64_t>(program.steps.size());
  }
  for (const Binding& b : plan.bindings) root["Bindings"].push_back(clean(b.name));
  root["Summary"] = {{"Model", clean(plan.model_name)}, {"Builder", clean(plan.builder)}, {"Device", clean(plan.device.name)},
                     {"Needs", backends::feature_text(plan.needs)}, {"Profiles", plan.programs.size()}, {"Steps", steps},
                     {"WeightBytes", plan.weights_bytes}, {"ArenaBytes", arena}, {"ArenaLiveBytes", live},
                     {"KeepsDenormals", plan.keeps_denormals}, {"ModelHash", clean(plan.built.model_hash)},
                     {"BuildOptions", clean(plan.built.options)}, {"ClocksKhz", Json::object()}};
  for (const backends::Clock& c : plan.built.clocks) root["Summary"]["ClocksKhz"][clean(c.of)] = c.khz;
  return root.dump(2);
}

}  // namespace tenfold::plan
