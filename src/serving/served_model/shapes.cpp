// Which shapes a served model takes: those of its file, as the server's options restrict them.
#include <algorithm>
#include <limits>

#include "served_model/impl.h"

namespace tenfold {

using namespace served_model;

namespace {

[[noreturn]] void refuse(std::string why) { throw Error(ErrorKind::invalid_argument, std::move(why)); }

std::string with_question_marks(const Shape& shape) {
  std::string out;
  for (const std::int64_t extent : shape) out += (out.empty() ? "" : "x") + (extent < 0 ? "?" : std::to_string(extent));
  return out.empty() ? "a scalar" : out;
}

bool batched(const BindingInfo& b) { return !b.shape.empty() && b.shape[0] < 0; }

void restrict_to(BindingInfo& binding, const Shape& given) {
  if (given.size() != binding.shape.size())
    refuse(subject(binding) + " has the shape " + shape_of(binding) + ", but " + with_question_marks(given) +
           " is configured: give " + std::to_string(binding.shape.size()) + " dims");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) continue;   // -1 that meets a fixed extent is that extent
    if (binding.shape[i] >= 0 && binding.shape[i] != given[i])
      refuse(subject(binding) + " has the shape " + shape_of(binding) + ", but " + with_question_marks(given) +
             " is configured: dim " + std::to_string(i) + " must be " + std::to_string(binding.shape[i]));
    binding.shape[i] = given[i];
    if (i < binding.names.size()) binding.names[i].clear();
  }
}

}  // namespace

std::string served_model::subject(const BindingInfo& binding) {
  return std::string(binding.is_input ? "input '" : "output '") + binding.name + "' of the model";
}

std::string served_model::shape_of(const BindingInfo& binding) {
  Shape shape = binding.shape;
  std::string out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool named = shape[i] < 0 && i < binding.names.size() && !binding.names[i].empty();
    out += (out.empty() ? "" : "x") + (shape[i] >= 0 ? std::to_string(shape[i]) : named ? binding.names[i] : "?");
  }
  return out.empty() ? "of a scalar" : out;
}

std::vector<BindingInfo> served_model::restricted(std::vector<BindingInfo> bindings, const ServedModelOptions& options) {
  for (const auto& [name, shape] : options.input_shapes) {
    const auto named = [&name = name](const BindingInfo& b) { return b.is_input && b.name == name; };
    const auto found = std::find_if(bindings.begin(), bindings.end(), named);
    if (found == bindings.end()) {
      std::string known;
      for (const BindingInfo& b : bindings)
        if (b.is_input) known += (known.empty() ? "'" : ", '") + b.name + "'";
      refuse("the model has no input '" + name + "'; it has " + (known.empty() ? "none" : known));
    }
    restrict_to(*found, shape);
  }
  if (options.max_batch > 0)
    if (const std::string why = why_not_batched(bindings); !why.empty())
      refuse("the model cannot be batched (" + why + "), but batches of up to " + std::to_string(options.max_batch) +
             " rows are configured: configure 0, or export the model with a dynamic first dim");
  return bindings;
}

std::int64_t served_model::max_rows(const Engine& plan) {
  if (!why_not_batched(plan.bindings()).empty()) return 0;
  std::int64_t most = 0;
  for (int profile = 0; profile < plan.info().profiles; ++profile) {
    std::int64_t rows = std::numeric_limits<std::int64_t>::max();
    for (const BindingInfo& b : plan.bindings())
      if (b.is_input) rows = std::min(rows, plan.profile_shapes(profile, b.name).max.at(0));
    most = std::max(most, rows);
  }
  return most;
}

std::vector<std::string> served_model::open_inputs(std::span<const BindingInfo> bindings, std::int64_t max_batch) {
  std::vector<std::string> open;
  for (const BindingInfo& b : bindings) {
    const auto from = b.shape.begin() + (max_batch > 0 && !b.shape.empty() ? 1 : 0);
    if (b.is_input && std::find_if(from, b.shape.end(), [](std::int64_t e) { return e < 0; }) != b.shape.end())
      open.push_back(b.name);
  }
  return open;
}

std::vector<OptimizationProfile> served_model::batch_profiles(std::span<const BindingInfo> of_file,
                                                              std::span<const BindingInfo> restricted, std::int64_t max_batch) {
  std::vector<OptimizationProfile> profiles;
  // Kernels for full batches lose time on one row, which is what comes when clients are few.
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {{1, 1}};
  if (max_batch > 1) ranges.emplace_back(2, max_batch);
  for (const auto& [least, rows] : ranges) {
    OptimizationProfile profile;
    for (std::size_t i = 0; i < of_file.size(); ++i) {
      const BindingInfo& file = of_file[i];
      if (!file.is_input || std::find(file.shape.begin(), file.shape.end(), -1) == file.shape.end()) continue;
      Shape min = restricted[i].shape, max = min;
      if (max_batch > 0) min[0] = least, max[0] = std::max(rows, least);
      profile[file.name] = {min, max, max};
    }
    if (profile.empty()) return {};
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::string why_not_batched(std::span<const BindingInfo> bindings) {
  for (const BindingInfo& b : bindings) {
    if (batched(b)) continue;
    const std::string who = std::string(b.is_input ? "input '" : "output '") + b.name + "'";
    if (b.shape.empty()) return who + " is a scalar, without a batch dim";
    return who + " has the shape " + shape_of(b) + ", whose first dim is fixed";
  }
  return "";
}

}  // namespace tenfold
