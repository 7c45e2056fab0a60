// Inspection from C.
#include <algorithm>

#include "c/run/common.h"
#include "tenfold/c/inspect.h"
#include "tenfold/inspect.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_inspection {
  std::optional<Engine> engine;
  PlanFileInspection file = {};        // of a file: all of it; of an engine its texts are made when they are asked for
  const PlanInspection& data = file.plan;
  std::string text = {};
};

namespace {

const PlanProgram& program_of(const tenfold_inspection* inspection, std::int32_t program) {
  return element(need(inspection, "the inspection").data.programs, program, "program");
}
const PlanStep& step_of(const tenfold_inspection* inspection, std::int32_t program, std::int32_t step) {
  return element(program_of(inspection, program).steps, step, "step");
}
constexpr const char* kPlace = "the place for the information";

std::int32_t count(const auto& list) { return static_cast<std::int32_t>(list.size()); }

}  // namespace

extern "C" tenfold_status tenfold_inspect(const tenfold_engine* engine, tenfold_inspection** inspection) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    place(inspection, "the place for the inspection", [&] { return new tenfold_inspection{own, {own.inspection(), {}, ""}}; });
  });
}
extern "C" tenfold_status tenfold_inspect_plan(const char* path, tenfold_inspection** inspection) {
  return guarded([&] {
    place(inspection, "the place for the inspection", [&] {
      return new tenfold_inspection{std::nullopt, inspect_plan(&need(path, "the path"))};
    });
  });
}
extern "C" tenfold_status tenfold_plan_version(const char* path, uint32_t* format, uint32_t* reads, char* builder, size_t room) {
  return guarded([&] {
    require(!builder || room > 0, ErrorKind::invalid_argument, "there is no room for the builder's name");
    const PlanVersion version = plan_version(&need(path, "the path"));
    if (format) *format = version.format;
    if (reads) *reads = version.reads;
    if (builder) builder[version.builder.copy(builder, room - 1)] = '\0';
  });
}
extern "C" const char* tenfold_inspection_plugin_operator(const tenfold_inspection* inspection, int32_t number) {
  if (!inspection || number < 0 || number >= count(inspection->data.plugin_operators)) return nullptr;
  return inspection->data.plugin_operators[static_cast<std::size_t>(number)].c_str();
}
extern "C" void tenfold_inspection_free(tenfold_inspection* inspection) { delete inspection; }
extern "C" tenfold_status tenfold_inspection_text(tenfold_inspection* inspection, int32_t detail, const char** text) {
  return guarded([&] {
    tenfold_inspection& i = need(inspection, "the inspection");
    i.text = i.engine ? i.engine->inspect(detail) : i.file.text[static_cast<std::size_t>(std::clamp(detail, -1, 1) + 1)];
    need(text, "the place for the text") = inspection->text.c_str();
  });
}
extern "C" tenfold_status tenfold_inspection_json(tenfold_inspection* inspection, const char** text) {
  return guarded([&] {
    tenfold_inspection& i = need(inspection, "the inspection");
    if (i.engine) i.file.json = i.engine->inspect_json();
    need(text, "the place for the text") = i.file.json.c_str();
  });
}
extern "C" tenfold_status tenfold_inspection_plan(const tenfold_inspection* inspection, tenfold_plan_info* info) {
  return guarded([&] {
    const PlanInspection& d = need(inspection, "the inspection").data;
    give(info,
         {0, d.model_name.c_str(), d.builder.c_str(), d.device.c_str(), d.device_kind.c_str(), d.needs.c_str(), d.weight_bytes, d.constants,
          d.portable, count(d.programs), count(d.clocks), d.model_hash.c_str(), d.build_options.c_str(),
          count(d.plugin_operators)},
         kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_clock(const tenfold_inspection* inspection, int32_t clock, tenfold_clock_info* info) {
  return guarded([&] {
    const PlanClock& c = element(need(inspection, "the inspection").data.clocks, clock, "clock");
    give(info, {0, c.of.c_str(), c.khz}, kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_program(const tenfold_inspection* inspection, int32_t program, tenfold_program_info* info) {
  return guarded([&] {
    const PlanProgram& p = program_of(inspection, program);
    give(info, {0, count(p.steps), count(p.ranges), p.arena_bytes, p.arena_live_bytes, count(p.nodes), count(p.tensors)}, kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_range(const tenfold_inspection* inspection, int32_t program, int32_t range,
                                                   tenfold_range_info* info) {
  return guarded([&] {
    const PlanRange& r = element(program_of(inspection, program).ranges, range, "range");
    give(info, {0, r.symbol.c_str(), r.min, r.opt, r.max}, kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_step(const tenfold_inspection* inspection, int32_t program, int32_t step,
                                                  tenfold_step_info* info) {
  return guarded([&] {
    const PlanStep& s = step_of(inspection, program, step);
    give(info,
         {0, s.name.c_str(), s.op.c_str(), s.kind.c_str(), s.tactic.c_str(), s.tactic_version, count(s.config), s.config.data(),
          s.attributes.c_str(), s.body.c_str(), count(s.inputs), count(s.outputs), s.workspace_bytes, s.parent, s.part, s.nodes.data(),
          count(s.nodes)},
         kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_operand(const tenfold_inspection* inspection, int32_t program, int32_t step, int32_t operand,
                                                     tenfold_operand_info* info) {
  return guarded([&] {
    const PlanStep& s = step_of(inspection, program, step);
    const PlanOperand& o =
        operand < count(s.inputs) ? element(s.inputs, operand, "operand") : element(s.outputs, operand - count(s.inputs), "operand");
    give(info,
         {0, o.name.c_str(), name(o.dtype).data(), o.shape.data(), count(o.shape), o.dims_text.c_str(), o.layout.c_str(), o.place.c_str(),
          o.constant, o.packed, o.dense, o.bytes, o.tensors.data(), count(o.tensors)},
         kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_node(const tenfold_inspection* inspection, int32_t program, int32_t node,
                                                  tenfold_model_node_info* info) {
  return guarded([&] {
    const PlanNode& n = element(program_of(inspection, program).nodes, node, "node");
    give(info, {0, n.name.c_str(), n.steps.data(), count(n.steps), n.removed_by.c_str()}, kPlace);
  });
}
extern "C" tenfold_status tenfold_inspection_tensor(const tenfold_inspection* inspection, int32_t program, int32_t tensor,
                                                    tenfold_model_tensor_info* info) {
  return guarded([&] {
    const PlanTensor& t = element(program_of(inspection, program).tensors, tensor, "tensor");
    give(info, {0, t.name.c_str(), t.step, t.where.c_str()}, kPlace);
  });
}
