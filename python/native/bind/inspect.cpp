// tenfold/inspect.h: what a plan holds, as data.
#include "tenfold/inspect.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/arrays/arrays.h"
#include "native/call/bound_context.h"

namespace tenfold::python {
namespace {

void bind_steps(nb::module_& m) {
  nb::class_<PlanOperand>(m, "PlanOperand", "An operand or a result of a step.")
      .def_ro("name", &PlanOperand::name)
      .def_prop_ro("dtype", [](const PlanOperand& o) { return std::string(name(o.dtype)); })
      .def_prop_ro(
          "shape", [](const PlanOperand& o) { return tuple_of(o.shape); }, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_ro("dims_text", &PlanOperand::dims_text)
      .def_ro("layout", &PlanOperand::layout)
      .def_ro("place", &PlanOperand::place)
      .def_ro("constant", &PlanOperand::constant)
      .def_ro("packed", &PlanOperand::packed)
      .def_ro("dense", &PlanOperand::dense)
      .def_ro("bytes", &PlanOperand::bytes)
      .def_ro("tensors", &PlanOperand::tensors);
  nb::class_<PlanStep>(m, "PlanStep", "A step of a plan.")
      .def_ro("name", &PlanStep::name)
      .def_ro("op", &PlanStep::op)
      .def_ro("kind", &PlanStep::kind)
      .def_ro("tactic", &PlanStep::tactic)
      .def_ro("tactic_version", &PlanStep::tactic_version)
      .def_ro("config", &PlanStep::config)
      .def_ro("attributes", &PlanStep::attributes)
      .def_ro("body", &PlanStep::body)
      .def_ro("inputs", &PlanStep::inputs)
      .def_ro("outputs", &PlanStep::outputs)
      .def_ro("workspace_bytes", &PlanStep::workspace_bytes)
      .def_ro("parent", &PlanStep::parent)
      .def_ro("part", &PlanStep::part)
      .def_ro("nodes", &PlanStep::nodes);
  nb::class_<PlanNode>(m, "PlanNode", "A node of the model.")
      .def_ro("name", &PlanNode::name)
      .def_ro("steps", &PlanNode::steps)
      .def_ro("removed_by", &PlanNode::removed_by);
  nb::class_<PlanTensor>(m, "PlanTensor", "A tensor of the model.")
      .def_ro("name", &PlanTensor::name)
      .def_ro("step", &PlanTensor::step)
      .def_ro("where", &PlanTensor::where);
}

}  // namespace

void bind_inspect(nb::module_& m) {
  bind_steps(m);
  nb::class_<PlanRange>(m, "PlanRange", "A range of an optimization profile.")
      .def_ro("symbol", &PlanRange::symbol)
      .def_ro("min", &PlanRange::min)
      .def_ro("opt", &PlanRange::opt)
      .def_ro("max", &PlanRange::max);
  nb::class_<PlanProgram>(m, "PlanProgram", "What runs for one optimization profile.")
      .def_ro("ranges", &PlanProgram::ranges)
      .def_ro("steps", &PlanProgram::steps)
      .def_ro("arena_bytes", &PlanProgram::arena_bytes)
      .def_ro("arena_live_bytes", &PlanProgram::arena_live_bytes)
      .def_ro("nodes", &PlanProgram::nodes)
      .def_ro("tensors", &PlanProgram::tensors);
  nb::class_<PlanClock>(m, "PlanClock", "How fast a part of the machine ran when kernels were timed.")
      .def_ro("of", &PlanClock::of)
      .def_ro("khz", &PlanClock::khz);
  nb::class_<PlanInspection>(m, "PlanInspection", "What a plan holds.")
      .def_ro("model_name", &PlanInspection::model_name)
      .def_ro("builder", &PlanInspection::builder)
      .def_ro("device", &PlanInspection::device)
      .def_ro("device_kind", &PlanInspection::device_kind)
      .def_ro("needs", &PlanInspection::needs)
      .def_ro("weight_bytes", &PlanInspection::weight_bytes)
      .def_ro("constants", &PlanInspection::constants)
      .def_ro("portable", &PlanInspection::portable)
      .def_ro("programs", &PlanInspection::programs)
      .def_ro("labels", &PlanInspection::labels)
      .def_ro("model_hash", &PlanInspection::model_hash)
      .def_ro("build_options", &PlanInspection::build_options)
      .def_ro("clocks", &PlanInspection::clocks);
}

}  // namespace tenfold::python
