// Values of options: how each type of field comes from Python, and what its annotation says. A value that does not fit throws WrongValue.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "native/arrays/arrays.h"
#include "native/options/callbacks.h"
#include "tenfold/build.h"

namespace tenfold::python {

struct WrongValue {
  std::string requested;
};  // "a number"

std::string text_of(nb::handle value);  // str, bytes or os.PathLike
Shape shape_of(nb::handle value);       // a sequence of numbers
std::int64_t number_of(nb::handle value);

void take(nb::handle value, std::string& to);
void take(nb::handle value, bool& to);
void take(nb::handle value, int& to);
void take(nb::handle value, std::int64_t& to);
void take(nb::handle value, std::uint64_t& to);
void take(nb::handle value, double& to);
void take(nb::handle value, std::vector<std::string>& to);
void take(nb::handle value, OptimizationProfile& to);
void take(nb::handle value, std::vector<OptimizationProfile>& to);
void take(nb::handle value, std::vector<DType>& to);
void take(nb::handle value, std::map<std::string, std::string>& to);
void take(nb::handle value, std::map<std::string, BindingFormat>& to);
void take(nb::handle value, std::map<std::string, Tensor>& to);
void take(nb::handle value, std::vector<std::map<std::string, Tensor>>& to);
void take(nb::handle value, LayerTypes& to);
void take(nb::handle value, PackTokens& to);
void take(nb::handle value, WeightsMode& to);
// Loads the plans of a cache with their weights in this mode; null for "automatic", as the cache does by itself.
std::function<Engine(const std::string& path, const LoadOptions& options)> loader_of(nb::handle weights);
void take(nb::handle value, std::shared_ptr<TimingCache>& to);
void take(nb::handle value, std::shared_ptr<Runtime>& to);
void take(nb::handle value, std::shared_ptr<const Plugins>& to);
void take_cpu_features(nb::handle value, std::uint32_t& to);
void take_tactic_sources(nb::handle value, std::uint32_t& to);

// What tenfold/__init__.pyi says of a field.
template <class T>
constexpr const char* annotation();
template <>
constexpr const char* annotation<std::string>() {
  return "str";
}
template <>
constexpr const char* annotation<bool>() {
  return "bool";
}
template <>
constexpr const char* annotation<int>() {
  return "int";
}
template <>
constexpr const char* annotation<std::int64_t>() {
  return "int";
}
template <>
constexpr const char* annotation<std::uint64_t>() {
  return "int";
}
template <>
constexpr const char* annotation<double>() {
  return "float";
}
template <>
constexpr const char* annotation<std::uint32_t>() {
  return "int | str | Sequence[str]";
}
template <>
constexpr const char* annotation<std::vector<std::string>>() {
  return "Sequence[str]";
}
template <>
constexpr const char* annotation<std::vector<OptimizationProfile>>() {
  return "Profile | Sequence[Profile]";
}
template <>
constexpr const char* annotation<std::map<std::string, std::string>>() {
  return "Mapping[str, str]";
}
template <>
constexpr const char* annotation<std::map<std::string, BindingFormat>>() {
  return "Mapping[str, str]";
}
template <>
constexpr const char* annotation<std::map<std::string, Tensor>>() {
  return "Mapping[str, Any]";
}
template <>
constexpr const char* annotation<std::vector<std::map<std::string, Tensor>>>() {
  return "Sequence[Mapping[str, Any]]";
}
template <>
constexpr const char* annotation<std::optional<Calibration>>() {
  return "Callable[[int], Mapping[str, Any] | None] | Sequence[Mapping[str, Any]] | Mapping[str, Any]";
}
template <>
constexpr const char* annotation<std::optional<ErrorBudget>>() {
  return "float | Mapping[str, Any]";
}
template <>
constexpr const char* annotation<LayerTypes>() {
  return "Mapping[str, Any]";
}
template <>
constexpr const char* annotation<PackTokens>() {
  return "Literal['no', 'where_equal', 'with_zeros']";
}
template <>
constexpr const char* annotation<WeightsMode>() {
  return "Literal['automatic', 'copy', 'lock', 'map']";
}
template <>
constexpr const char* annotation<std::shared_ptr<TimingCache>>() {
  return "TimingCache";
}
template <>
constexpr const char* annotation<std::shared_ptr<Runtime>>() {
  return "Runtime";
}
template <>
constexpr const char* annotation<std::shared_ptr<const Plugins>>() {
  return "Plugins";
}
template <>
constexpr const char* annotation<LogCallback>() {
  return "Callable[[str, str], object]";
}
template <>
constexpr const char* annotation<std::function<bool(const Progress&)>>() {
  return "Callable[[str, int, int], bool | None]";
}
template <>
constexpr const char* annotation<std::function<int(const TacticQuestion&)>>() {
  return "Callable[[str, str, list[tuple[str, str, float]]], int | None]";
}
template <>
constexpr const char* annotation<std::function<void(std::string_view, std::string_view)>>() {
  return "Callable[[str, str], object]";
}

}  // namespace tenfold::python
