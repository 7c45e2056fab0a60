// Who reads each constant, and in what form.
#include "plan/weight_forms.h"

#include <map>
#include <set>

#include "base/check.h"

namespace tenfold::plan {
namespace {

struct Readers {
  std::set<std::string> kernels;   // that read it packed
  std::set<std::size_t> profiles;
};

void add_readers(std::vector<Readers>& readers, const Program& program, std::size_t profile) {
  for (const Step& step : program.steps) {
    for (const Operand& o : step.in) {
      if (o.at.space != Space::weights || static_cast<std::size_t>(o.at.index) >= readers.size()) continue;
      Readers& of = readers[static_cast<std::size_t>(o.at.index)];
      of.profiles.insert(profile);
      if (o.packed) of.kernels.insert(step.tactic);
    }
    for (const Program& nested : step.programs) add_readers(readers, nested, profile);
  }
}

}  // namespace

std::vector<WeightForm> weight_forms(const Plan& plan) {
  std::vector<Readers> readers(plan.constants.size());
  for (std::size_t p = 0; p < plan.programs.size(); ++p) add_readers(readers, plan.programs[p], p);
  std::map<std::string, WeightForm> by_kernels;
  for (std::size_t c = 0; c < readers.size(); ++c) {
    std::string kernels;
    for (const std::string& name : readers[c].kernels) kernels += cat(kernels.empty() ? "" : ", ", name);
    WeightForm& form = by_kernels[kernels];
    form.kernels = kernels, form.by_profile.resize(plan.programs.size());
    form.bytes += plan.constants[c].bytes;
    for (const std::size_t p : readers[c].profiles) form.by_profile[p] += plan.constants[c].bytes;
  }
  std::vector<WeightForm> forms;
  for (auto& [kernels, form] : by_kernels) forms.push_back(std::move(form));
  return forms;
}

}  // namespace tenfold::plan
