// Enumerations of tenfold/sliding_window.h by their names.
#include <span>
#include <utility>

#include "base/check.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

template <class Enum>
Enum parse(std::string_view what, std::string_view given, std::span<const std::pair<std::string_view, Enum>> names) {
  std::string all;
  for (const auto& [known, value] : names) {
    if (known == given) return value;
    all += (all.empty() ? "" : known == names.back().first ? " or " : ", ") + std::string(known);
  }
  fail(ErrorKind::invalid_argument, cat(what, " '", given, "': expected ", all));
}

}  // namespace

WindowPlacement parse_window_placement(std::string_view name) {
  static constexpr std::pair<std::string_view, WindowPlacement> names[] = {{"fixed_step", WindowPlacement::fixed_step},
                                                                           {"even", WindowPlacement::even}};
  return parse<WindowPlacement>("placement", name, names);
}
WindowMode parse_window_mode(std::string_view name) {
  static constexpr std::pair<std::string_view, WindowMode> names[] = {
      {"constant", WindowMode::constant}, {"gaussian", WindowMode::gaussian}, {"halo", WindowMode::halo}};
  return parse<WindowMode>("mode", name, names);
}
WindowPadding parse_window_padding(std::string_view name) {
  static constexpr std::pair<std::string_view, WindowPadding> names[] = {{"constant", WindowPadding::constant},
                                                                         {"reflect", WindowPadding::reflect},
                                                                         {"replicate", WindowPadding::replicate},
                                                                         {"circular", WindowPadding::circular}};
  return parse<WindowPadding>("padding_mode", name, names);
}
OutputActivation parse_output_activation(std::string_view name) {
  static constexpr std::pair<std::string_view, OutputActivation> names[] = {
      {"none", OutputActivation::none}, {"sigmoid", OutputActivation::sigmoid}, {"softmax", OutputActivation::softmax}};
  return parse<OutputActivation>("activation", name, names);
}
OutputReduction parse_output_reduction(std::string_view name) {
  static constexpr std::pair<std::string_view, OutputReduction> names[] = {
      {"none", OutputReduction::none}, {"argmax", OutputReduction::argmax}, {"threshold", OutputReduction::threshold}};
  return parse<OutputReduction>("reduce", name, names);
}
GridInterpolation parse_grid_interpolation(std::string_view name) {
  static constexpr std::pair<std::string_view, GridInterpolation> names[] = {{"linear", GridInterpolation::linear},
                                                                             {"nearest", GridInterpolation::nearest}};
  return parse<GridInterpolation>("interpolation", name, names);
}

}  // namespace tenfold
