// From the inspection of a plan, the times of its steps and the report of its build to JSON.
#include "report/plan_data.h"

#include <algorithm>

#include "inspect/why.h"
#include "measure/report.h"
#include "notes.h"
#include "report/lifetime.h"
#include "report/precision_reason.h"
#include "report/work.h"
#include "tenfold/internal/options_shown.h"

namespace tenfold::cli {
namespace {

Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

std::optional<Shape> shape_at(const PlanOperand& o, const Sizes& sizes) {
  Shape shape;
  for (const std::optional<std::int64_t>& extent : extents_at(o.dims_text, sizes)) {
    if (!extent) return {};
    shape.push_back(*extent);
  }
  return shape;
}

// Bytes in memory at these sizes: blocked layouts round channels up. -1: not known.
std::int64_t memory_bytes(const PlanOperand& o, const Sizes& sizes) {
  std::optional<Shape> shape = shape_at(o, sizes);
  if (!shape || o.dtype == DType::string) return -1;
  const int block = o.layout == "c8" ? 8 : o.layout == "c16" ? 16 : 1;
  if (shape->size() >= 3) (*shape)[1] = ((*shape)[1] + block - 1) / block * block;
  return bytes_of({o.dtype, shape}).value_or(-1);
}

// One program's steps with all that belongs to them.
class Steps {
 public:
  explicit Steps(const PlanFacts& facts) : facts_(facts), program_(facts.plan.programs.at(static_cast<std::size_t>(facts.profile))) {
    const Json layers = Json::parse(facts.layers_json);
    for (const Json& layer : layers["Layers"])
      if (layer["Profile"] == facts.profile) layers_.push_back(layer);
    if (facts.times)
      for (const LayerTimes& l : facts.times->layers) {
        double sum = 0;
        for (const double ms : l.ms) sum += ms;
        const bool each_run = l.ms.size() == facts.times->timed_runs;
        ms_[l.name] +=
            each_run ? statistics(l.ms, {}).median : sum / static_cast<double>(std::max<std::size_t>(facts.times->timed_runs, 1));
      }
    for (const auto& [name, ms] : ms_) total_ms_ += ms;
    if (facts.build) tuning_ = why_json(*facts.build);
    for (std::size_t i = 0; i < tuning_.size(); ++i) tried_[base_of(tuning_[i]["node"].get<std::string>())].push_back(static_cast<int>(i));
  }

  void add_to(Json& root) {
    Json steps = Json::array();
    for (std::size_t s = 0; s < program_.steps.size(); ++s) steps.push_back(step_json(static_cast<int>(s)));
    for (const auto& [from, to] : lives_.edges()) steps[static_cast<std::size_t>(to)]["from"].push_back(from);
    root["steps_ms"] = facts_.times ? Json(total_ms_) : Json();
    root["values"] = std::move(values_), root["steps"] = std::move(steps), root["tuning"] = std::move(tuning_);
    root["arena"] = Json::array();
    for (const MemoryBlock& b : lives_.arena())
      root["arena"].push_back(
          {{"value", b.value}, {"offset", b.offset}, {"bytes", b.bytes}, {"first", b.first}, {"last", b.last}, {"in_place", b.in_place}});
    for (std::size_t i = 0; i < root["inputs"].size(); ++i) root["inputs"][i]["to"] = lives_.readers_of("binding " + std::to_string(i));
  }

 private:
  // Parts of a step that was tried unfused have its name with an ending.
  std::string base_of(const std::string& node) const {
    for (const std::string_view ending : {"_epilogue", "_anchor"})
      if (node.ends_with(ending)) return node.substr(0, node.size() - ending.size());
    return node;
  }
  int value_index(const PlanOperand& o) {
    const std::string key =
        o.name + '\0' + o.place + '\0' + o.dims_text + '\0' + o.layout + std::string(name(o.dtype)) + (o.packed ? "p" : "");
    const auto [it, fresh] = index_.try_emplace(key, static_cast<int>(values_.size()));
    if (!fresh) return it->second;
    Json v{{"name", o.name}, {"dtype", name(o.dtype)}, {"dims", o.dims_text}, {"place", o.place}};
    if (std::find(o.shape.begin(), o.shape.end(), -1) != o.shape.end())
      if (const std::optional<Shape> shape = shape_at(o, facts_.sizes)) v["shape"] = *shape;
    if (o.layout != "plain" && !o.layout.empty()) v["layout"] = o.layout;
    if (o.constant) v["constant"] = true;
    if (o.packed) v["packed"] = true;
    if (!o.dense) v["view"] = true;
    v["bytes"] = or_null(bytes_of(work_operand(o)));
    for (const std::int32_t t : o.tensors)
      if (const std::string& tensor = program_.tensors[static_cast<std::size_t>(t)].name; tensor != o.name) v["tensors"].push_back(tensor);
    values_.push_back(std::move(v));
    return it->second;
  }
  WorkOperand work_operand(const PlanOperand& o) const {
    if (o.place == "-") return {.present = false};
    return {o.dtype, o.dtype == DType::string ? std::nullopt : shape_at(o, facts_.sizes), o.packed ? o.bytes : -1};
  }
  Json operands(const std::vector<PlanOperand>& list) {
    Json indices = Json::array();
    for (const PlanOperand& o : list)
      if (o.place != "-") indices.push_back(value_index(o));
    return indices;
  }

  Json step_json(int number) {
    const PlanStep& step = program_.steps[static_cast<std::size_t>(number)];
    const Json& layer = layers_.at(static_cast<std::size_t>(number));
    Json json{{"name", step.name},
              {"op", step.op},
              {"kind", step.kind},
              {"kernel", step.kind == "kernel" ? step.tactic : ""},
              {"nodes", step.nodes},
              {"inputs", operands(step.inputs)},
              {"outputs", operands(step.outputs)},
              {"from", Json::array()}};
    if (!step.config.empty()) json["config"] = step.config;
    if (step.parent >= 0) json["parent"] = step.parent, json["part"] = step.part;
    for (const auto& [key, from] : {std::pair("attributes", "Attributes"), {"numerics", "Numerics"}, {"body", "Body"}})
      if (layer.contains(from)) json[key] = layer[from];
    const Json precision = layer.value("Precision", Json::object());
    json["compute"] = precision.value("Compute", ""), json["sum"] = precision.value("Sum", ""),
    json["storage"] = precision.value("Storage", "");
    if (const std::string why = precision_reason(facts_, step, json); !why.empty()) json["why"] = why;
    if (step.workspace_bytes > 0) json["workspace_bytes"] = step.workspace_bytes;
    if (const Json work = layer.value("Workspace", Json::object()); work.contains("ArenaOffset"))
      json["workspace_at"] = work["ArenaOffset"];
    add_tried(json, step);
    follow_memory(number, step, json["outputs"]);
    add_speed(json, step);
    return json;
  }
  // A build looks at each problem once: steps of the same problem point to what was tried for the first of them.
  void add_tried(Json& json, const PlanStep& step) {
    std::string problem = step.op + '\0' + step.attributes + '\0' + step.body + '\0' + json.value("numerics", "");
    for (const std::vector<PlanOperand>* list : {&step.inputs, &step.outputs})
      for (const PlanOperand& o : *list) problem += '\0' + std::string(name(o.dtype)) + o.dims_text + (o.constant ? "!" : "");
    const auto own = tried_.find(base_of(step.name));  // a step that was cut has the ending itself
    std::vector<int> tried = own == tried_.end() ? std::vector<int>() : own->second;
    const bool whole =
        std::any_of(tried.begin(), tried.end(), [&](int t) { return tuning_[static_cast<std::size_t>(t)]["node"] == step.name; });
    if (whole)
      tried_for_.try_emplace(problem, tried);
    else if (const auto first = tried_for_.find(problem); first != tried_for_.end())
      tried = first->second;
    if (!tried.empty()) json["tried"] = tried;
  }
  void follow_memory(int number, const PlanStep& step, const Json& outputs) {
    for (const PlanOperand& o : step.inputs) lives_.read(number, o.place, memory_bytes(o, facts_.max_sizes));
    std::size_t at = 0;
    for (const PlanOperand& o : step.outputs)
      if (o.place != "-") lives_.write(number, outputs[at++].get<int>(), o.place, memory_bytes(o, facts_.max_sizes));
  }

  void add_speed(Json& json, const PlanStep& step) {
    WorkStep work{step.op, step.attributes, {}, {}};
    for (const PlanOperand& o : step.inputs) work.inputs.push_back(work_operand(o));
    for (const PlanOperand& o : step.outputs) work.outputs.push_back(work_operand(o));
    const bool computes = step.kind == "kernel" || step.kind == "reference" || step.kind == "copy";
    std::optional<std::int64_t> flops, bytes;
    if (computes) flops = flops_of(work), bytes = bytes_moved(work);
    json["flops"] = or_null(flops), json["bytes"] = or_null(bytes);
    const auto time = ms_.find(step.name);
    const bool timed = time != ms_.end() && step.parent < 0;
    json["ms"] = timed ? Json(time->second) : Json();
    json["share"] = timed && total_ms_ > 0 ? Json(time->second / total_ms_) : Json();
    if (!facts_.roof || !flops || !bytes) return;
    std::int64_t constants = 0;
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i].constant) constants += bytes_of(work.inputs[i]).value_or(0);
    constants = std::min(constants, *bytes);  // of those that are read in part
    std::string type = json["compute"].get<std::string>();
    if (facts_.plan.device_kind != "cpu" && type == "f32" && json.value("numerics", "").find("round_to=tf32") != std::string::npos)
      type = "tf32";
    const auto roof =
        roof_of(*facts_.roof, {*flops, constants, *bytes - constants, facts_.plan.weight_bytes + program_.arena_live_bytes, type});
    if (!roof) return;
    json["roof_ms"] = roof->ms, json["bound_by"] = roof->by;
    if (timed && time->second > 0) json["of_roof"] = roof->ms / time->second;
  }

  const PlanFacts& facts_;
  const PlanProgram& program_;
  std::vector<Json> layers_;
  std::map<std::string, double> ms_;
  double total_ms_ = 0;
  Json tuning_ = Json::array(), values_ = Json::array();
  std::map<std::string, std::vector<int>> tried_;      // entries of the report, by the step that they are about
  std::map<std::string, std::vector<int>> tried_for_;  // the same by problem
  std::map<std::string, int> index_;
  Lifetimes lives_;
};

Json bindings_json(const PlanFacts& facts, bool inputs) {
  Json list = Json::array();
  for (const BindingInfo& b : facts.bindings) {
    if (b.is_input != inputs) continue;
    Json dims = Json::array();
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      dims.push_back(b.shape[d] < 0 && d < b.names.size() && !b.names[d].empty() ? Json(b.names[d]) : Json(b.shape[d]));
    list.push_back({{"name", b.name}, {"dtype", name(b.dtype)}, {"dims", std::move(dims)}});
  }
  return list;
}

Json roof_json(const std::optional<Roof>& roof) {
  if (!roof) return {};
  Json memory = Json::array();
  for (const RoofMemory& m : roof->memory)
    memory.push_back({{"of", m.of}, {"up_to_bytes", m.up_to_bytes < 0 ? Json() : Json(m.up_to_bytes)}, {"gb_s", m.gb_s}});
  return {{"source", roof->source}, {"gflops", roof->gflops}, {"memory", std::move(memory)}};
}

// Nodes of the model without a step, by what removed them.
Json removed_json(const PlanProgram& program) {
  std::map<std::string, std::vector<int>> by;
  for (std::size_t n = 0; n < program.nodes.size(); ++n)
    if (program.nodes[n].steps.empty()) by[program.nodes[n].removed_by].push_back(static_cast<int>(n));
  Json list = Json::array();
  for (const auto& [who, nodes] : by) list.push_back({{"by", who}, {"nodes", nodes}});
  return list;
}

}  // namespace

Json plan_json(const PlanFacts& facts) {
  const PlanInspection& plan = facts.plan;
  const PlanProgram& program = plan.programs.at(static_cast<std::size_t>(facts.profile));
  Json root{{"file", facts.file},
            {"from_model", facts.from_model},
            {"model", plan.model_name},
            {"builder", plan.builder},
            {"device", plan.device},
            {"device_kind", plan.device_kind},
            {"needs", plan.needs},
            {"options", plan.build_options},
            {"options_shown", options_shown(plan.build_options)},
            {"model_hash", plan.model_hash},
            {"threads", facts.info ? Json(facts.info->threads) : Json()},
            {"profile", facts.profile},
            {"profiles", plan.programs.size()},
            {"weight_bytes", plan.weight_bytes},
            {"arena_bytes", program.arena_bytes},
            {"arena_live_bytes", program.arena_live_bytes},
            {"sizes", facts.sizes},
            {"max_sizes", facts.max_sizes}};
  root["clocks"] = Json::array(), root["absent"] = Json::array(), root["nodes"] = Json::array();
  for (const PlanClock& c : plan.clocks) root["clocks"].push_back({{"of", c.of}, {"khz", c.khz}});
  root["notes"] = notes_json(facts.info ? facts.info->notes : std::vector<Note>());
  for (const PlanFacts::Absent& a : facts.absent) root["absent"].push_back({{"what", a.what}, {"why", a.why}, {"how", a.how}});
  root["inputs"] = bindings_json(facts, true), root["outputs"] = bindings_json(facts, false);
  root["run_ms"] = facts.times ? Json(facts.times->run_ms) : Json();
  root["runs"] = facts.times ? Json(facts.times->runs) : Json();
  root["roof"] = roof_json(facts.roof);
  if (facts.build && facts.build->overflow_checked_on != CheckedOn::nothing) root["overflow"] = overflow_json(*facts.build);
  for (const PlanNode& n : program.nodes) root["nodes"].push_back(n.name);
  root["removed"] = removed_json(program);
  Steps(facts).add_to(root);
  return root;
}

}  // namespace tenfold::cli
