// From shape flags to optimization profiles, filling gaps as trtexec does.
#include <set>

#include "engines/exec_options.h"

namespace tenfold::cli {
namespace {

const Shape* shape_in(const std::map<std::string, Shape>& shapes, const std::string& name) {
  const auto found = shapes.find(name);
  return found == shapes.end() ? nullptr : &found->second;
}

}  // namespace

OptimizationProfile profile_of(const ExecOptions::Ranges& ranges) {
  OptimizationProfile profile;
  std::set<std::string> names;
  for (const auto* shapes : {&ranges.min, &ranges.opt, &ranges.max})
    for (const auto& [name, shape] : *shapes) names.insert(name);
  for (const std::string& name : names) {
    const Shape *min = shape_in(ranges.min, name), *opt = shape_in(ranges.opt, name), *max = shape_in(ranges.max, name);
    if (!opt) opt = max ? max : min;
    profile[name] = {min ? *min : *opt, *opt, max ? *max : *opt};
  }
  return profile;
}

std::vector<OptimizationProfile> profile_ranges(const ExecOptions& o, const std::map<std::string, Shape>& known) {
  std::map<int, ExecOptions::Ranges> profiles = o.profiles;
  if (profiles.empty()) profiles[0];
  std::vector<OptimizationProfile> all;
  for (const auto& [number, ranges] : profiles) {
    OptimizationProfile profile = profile_of(ranges);
    if (number == 0 && profiles.size() == 1)
      for (const auto* shapes : {&o.shapes, &known})
        for (const auto& [name, shape] : *shapes) profile.emplace(name, ShapeRange{shape, shape, shape});
    all.push_back(std::move(profile));
  }
  return all.size() == 1 && all[0].empty() ? std::vector<OptimizationProfile>{} : all;
}

}  // namespace tenfold::cli
