// A plan's file in words and as data, without opening it.
#include <stdexcept>

#include "base/check.h"
#include "plan/inspect.h"
#include "plan/read.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {
namespace plan {

PlanFileInspection inspect_unopened(const Plan& plan) {
  try {
    return {inspect_data(plan), {inspect_text(plan, -1), inspect_text(plan, 0), inspect_text(plan, 1)}, inspect_json(plan)};
  } catch (const std::out_of_range&) {   // no verifier has seen it, which asks for devices and plug-ins
    fail(ErrorKind::plan_refused, "the plan is damaged: a step refers to what is not there");
  }
}

}  // namespace plan

PlanFileInspection inspect_plan(const std::string& path) {
  try {
    return as_error([&] { return plan::inspect_unopened(plan::load(path, {.code = false})); });
  } catch (Error& e) {
    throw e.within("inspecting plan '" + path + "'");
  }
}

PlanVersion plan_version(const std::string& path) {
  try {
    return plan::read_version(path);
  } catch (Error& e) {
    throw e.within("reading plan '" + path + "'");
  }
}

}  // namespace tenfold
