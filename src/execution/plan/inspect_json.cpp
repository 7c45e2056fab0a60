// The JSON form. Keys are TensorRT's, so that tools which read its layer information read ours; "Summary" is our addition.
#include <nlohmann/json.hpp>

#include "backends/device_traits.h"
#include "base/check.h"
#include "plan/host_work.h"
#include "plan/inspect.h"
#include "plan/step_types.h"
#include "plan/weight_forms.h"

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

// The model's names, in the order in which steps are told.
struct NameCursor {
  const Names& names;
  const ProgramNames* program;   // null: the plan keeps none
  std::size_t step = 0;
  const StepNames* now() const { return program ? &program->steps[step] : nullptr; }
};

Json tensors_json(const ir::NameTable& table, const ir::NameList& tensors) {
  Json list = Json::array();
  for (const std::int32_t t : tensors) list.push_back(clean(table.tensors[static_cast<std::size_t>(t)]));
  return list;
}

// As TensorRT's "Metadata" names the layers of the model that one of its layers was fused from: a unit separator stands between them.
std::string metadata(const ir::NameTable& table, const ir::NameList& nodes) {
  std::string text;
  for (const std::int32_t n : nodes)
    text += cat(text.empty() ? "" : "\x1f", "[ONNX Layer: ", clean(table.nodes[static_cast<std::size_t>(n)].name), "]");
  return text;
}

Json operands_json(const Plan& plan, const Program& top, const Step& step, bool results, const NameCursor& cursor) {
  Json list = Json::array();
  std::size_t number = results ? step.in.size() : 0;
  for (const Operand& o : results ? step.out : step.in) {
    const ir::NameList tensors = cursor.now() ? cursor.now()->operands[number] : ir::NameList{};
    ++number;
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
    if (cursor.now()) item["Tensors"] = tensors_json(cursor.names.table, tensors);
    if (o.packed) item["PackedBytes"] = plan.constants.at(static_cast<std::size_t>(o.at.index)).bytes;
    list.push_back(std::move(item));
  }
  return list;
}

// "Compute": what it multiplies in; "Sum"; "Storage": of its first result. Keys of our own.
Json precision_json(const Step& step) {
  const StepTypes types = types_of(step);
  Json json = Json::object();
  if (types.compute) json["Compute"] = name(*types.compute);
  if (types.sum) json["Sum"] = name(*types.sum);
  if (types.storage) json["Storage"] = name(*types.storage);
  return json;
}

void add_layers(Json& layers, const Plan& plan, const Program& top, const Program& program, int profile, const std::string& parent,
                NameCursor& cursor) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    Json layer{{"Name", clean(step.name)}, {"LayerType", clean(step.op)}, {"Inputs", operands_json(plan, top, step, false, cursor)},
               {"Outputs", operands_json(plan, top, step, true, cursor)}, {"ParameterType", step.op.empty() ? "Copy" : clean(step.op)},
               {"TacticName", step.kind == StepKind::kernel ? clean(step.tactic) : std::string(kind_text(step.kind))}, {"StreamId", 0},
               {"Metadata", cursor.now() ? metadata(cursor.names.table, cursor.now()->nodes) : ""}, {"Profile", profile}};
    if (step.kind == StepKind::kernel) layer["TacticValue"] = cat("v", step.tactic_version), layer["TacticConfig"] = step.config;
    if (Json types = precision_json(step); !types.empty()) layer["Precision"] = std::move(types);
    if (!step.attributes.empty()) layer["Attributes"] = clean(ir::text(step.attributes));
    if (const std::string words = ir::text(step.numerics); !words.empty()) layer["Numerics"] = words;
    if (step.has_body) layer["Body"] = clean(ir::text(step.body));
    if (step.workspace_bytes > 0) {
      layer["Workspace"] = {{"Bytes", step.workspace_bytes}};
      if (step.workspace_dynamic < 0) layer["Workspace"]["ArenaOffset"] = step.workspace_offset;
    }
    if (const auto work = host_work(plan, top, program, s))
      layer["Host"] = {{"Does", work->does}, {"Why", clean(work->why)}, {"Waits", work->waits}};
    if (!parent.empty()) layer["Parent"] = clean(parent);
    layers.push_back(std::move(layer));
    ++cursor.step;
    for (const Program& nested : step.programs) add_layers(layers, plan, top, nested, profile, step.name, cursor);
  }
}

}  // namespace

std::string inspect_json(const Plan& plan) {
  Json root{{"Layers", Json::array()}, {"Bindings", Json::array()}, {"Removed", Json::array()}};
  const Names names = read_names(plan);
  std::int64_t arena = 0, live = 0, steps = 0;
  for (std::size_t p = 0; p < plan.programs.size(); ++p) {
    const Program& program = plan.programs[p];
    NameCursor cursor{names, names.programs.empty() ? nullptr : &names.programs[p]};
    add_layers(root["Layers"], plan, program, program, static_cast<int>(p), "", cursor);
    if (cursor.program)
      for (const ir::Removed& r : cursor.program->removed)
        root["Removed"].push_back(
            {{"Node", clean(names.table.nodes[static_cast<std::size_t>(r.node)].name)}, {"By", clean(r.by)}, {"Profile", p}});
    if (program.arena_bytes >= arena) arena = program.arena_bytes, live = program.arena_live_bytes;
    steps += static_cast<std::int64_t>(program.steps.size());
  }
  for (const Binding& b : plan.bindings) root["Bindings"].push_back(clean(b.name));
  root["Summary"] = {{"Model", clean(plan.model_name)}, {"Builder", clean(plan.builder)}, {"Device", clean(plan.device.name)},
                     {"Needs", backends::feature_text(plan.needs)}, {"Profiles", plan.programs.size()}, {"Steps", steps},
                     {"WeightBytes", plan.weights_bytes}, {"ArenaBytes", arena}, {"ArenaLiveBytes", live},
                     {"KeepsDenormals", plan.keeps_denormals}, {"ModelHash", clean(plan.built.model_hash)},
                     {"BuildOptions", clean(plan.built.options)}, {"ClocksKhz", Json::object()}};
  if (backends::traits_of(plan.device).launches) {
    std::size_t on_host = 0;
    for (const Program& program : plan.programs) on_host += host_steps(plan, program).size();
    root["Summary"]["HostSteps"] = on_host;
  }
  root["Summary"]["WeightForms"] = Json::array();
  for (const WeightForm& form : weight_forms(plan))
    root["Summary"]["WeightForms"].push_back(
        {{"Kernels", clean(form.kernels)}, {"Bytes", form.bytes}, {"BytesByProfile", form.by_profile}});
  for (const backends::Clock& c : plan.built.clocks) root["Summary"]["ClocksKhz"][clean(c.of)] = c.khz;
  return root.dump(2);
}

}  // namespace tenfold::plan
