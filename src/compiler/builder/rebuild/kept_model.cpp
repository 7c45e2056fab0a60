// Writing and reading the model that a plan keeps.
#include "builder/rebuild/kept_model.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "builder/fields.h"
#include "builder/rebuild/kept_ranges.h"
#include "ir/scan.h"
#include "ir/text.h"

namespace tenfold::builder {
namespace {

constexpr std::string_view kHead = "kept model 1\n", kHeadOfCalibrated = "kept model 2\n";
constexpr std::int64_t kLongestLiteral = 256;   // elements; strings of any number
constexpr std::int64_t kAlignment = 64;

// Attributes are written by name: the places of fields do not count.
template <class Visit>
void each_field_in_kept_models(Visit visit) {
  each_field([&](auto field) {
    if constexpr (decltype(field)::kForms.in_kept.number > 0) visit(field);
  });
}

std::string quoted(const std::string& text) { return ir::text(ir::Attribute(text)); }
std::string ints(const Shape& shape) { return ir::text(ir::Attribute(ir::Ints(shape.begin(), shape.end()))); }

// "f16 conv*": of what a layer computes in. "gives f16 f32 conv*": of its outputs. Names may hold spaces, types hold none.
std::vector<std::string> layer_lines(const LayerTypes& types) {
  std::vector<std::string> lines;
  for (const LayerPrecision& one : types.precisions) lines.push_back(cat(name(one.type), " ", one.layers));
  for (const LayerOutputTypes& one : types.output_types) {
    std::string line = "gives ";
    for (const DType type : one.types) line += cat(name(type), " ");
    lines.push_back(line + "of " + one.layers);
  }
  return lines;
}

void keep(ir::Attributes& options, const char* name, bool value) { options.set(name, std::int64_t{value}); }
void keep(ir::Attributes& options, const char* name, PackTokens value) { options.set(name, static_cast<std::int64_t>(value)); }
void keep(ir::Attributes& options, const char* name, const std::string& value) {
  if (!value.empty()) options.set(name, value);
}
void keep(ir::Attributes& options, const char* name, const std::vector<std::string>& value) {
  if (!value.empty()) options.set(name, value);
}
void keep(ir::Attributes& options, const char*, const LayerTypes& value) {
  if (value.constraints == LayerConstraints::none) return;
  options.set("layer_constraints", static_cast<std::int64_t>(value.constraints));
  options.set("layers", layer_lines(value));
}

std::string options_text(const BuildConfig& config) {
  ir::Attributes options;
  each_field_in_kept_models([&](auto field) {
    const Place& place = field.kForms.in_kept;
    if (!left_out(field, place, config)) keep(options, field.name_in(place), field.of(config));
  });
  return ir::text(options);
}

// The next word of a line, taken off it.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

void read_layer_line(ir::Scanner& in, std::string_view line, LayerTypes& types) {
  const auto type_of = [&](std::string_view word) {
    const std::optional<DType> type = dtype_from_name(word);
    if (!type) in.bad("an unknown type of a layer");
    return *type;
  };
  std::string_view word = next_word(line);
  if (word != "gives") return types.precisions.push_back({std::string(line), type_of(word)});
  std::vector<DType> outputs;
  while ((word = next_word(line)) != "of") outputs.push_back(type_of(word));
  types.output_types.push_back({std::string(line), std::move(outputs)});
}

// What `options` gave for one name, if it is of this kind; later versions may give others.
struct Given {
  ir::Scanner& in;
  std::map<std::string, ir::Attribute> all = {};

  template <class T>
  const T* find(const std::string& name) const {
    const auto at = all.find(name);
    return at == all.end() ? nullptr : std::get_if<T>(&at->second);
  }
  template <class Enum>
  void read(const std::string& name, Enum& value, Enum largest, const char* unknown) const {
    const auto* number = find<std::int64_t>(name);
    if (!number) return;
    if (*number < 0 || *number > static_cast<std::int64_t>(largest)) in.bad(unknown);
    value = static_cast<Enum>(*number);
  }
};
void read(const Given& given, const char* name, bool& value) {
  if (const auto* number = given.find<std::int64_t>(name)) value = *number != 0;
}
void read(const Given& given, const char* name, PackTokens& value) {
  given.read(name, value, PackTokens::with_zeros, "an unknown way to pack tokens");
}
void read(const Given& given, const char* name, std::string& value) {
  if (const auto* text = given.find<std::string>(name)) value = *text;
}
void read(const Given& given, const char* name, std::vector<std::string>& value) {
  if (const auto* list = given.find<std::vector<std::string>>(name)) value = *list;
}
void read(const Given& given, const char*, LayerTypes& value) {
  given.read("layer_constraints", value.constraints, LayerConstraints::obey, "an unknown constraint of layers");
  if (const auto* lines = given.find<std::vector<std::string>>("layers"))
    for (const std::string& line : *lines) read_layer_line(given.in, line, value);
}

void read_options(ir::Scanner& in, BuildConfig& config) {
  Given given{in};
  const auto at_next_part = [&] {
    constexpr const char* kParts[] = {"profile", "default", "calibration", "seen", "stored", "literal", "graph"};
    return std::any_of(std::begin(kParts), std::end(kParts), [&](const char* part) { return in.looking_at(part); });
  };
  while (!at_next_part() && in.peek()) {
    const std::string name = in.name();
    in.expect('=');
    given.all.emplace(name, ir::parse_attribute(in));
  }
  each_field_in_kept_models([&](auto field) { read(given, field.name_in(field.kForms.in_kept), field.of(config)); });
}

Shape read_shape(ir::Scanner& in) {
  const ir::Attribute value = ir::parse_attribute(in);
  const auto* extents = std::get_if<ir::Ints>(&value);
  if (!extents) in.bad("a list of extents expected");
  return Shape(extents->begin(), extents->end());
}

Tensor read_stored(ir::Scanner& in, const plan::KeptModel& kept) {
  const ir::ValueType type = ir::parse_type(in);
  if (type.kind != ir::ValueType::Kind::tensor || !ir::is_constant(type.tensor.dims)) in.bad("a constant needs a constant shape");
  const std::int64_t offset = in.integer();
  Shape shape = ir::constants(type.tensor.dims);
  const std::int64_t bytes = byte_size(type.tensor.dtype, element_count(shape)), all = static_cast<std::int64_t>(kept.weights.size());
  if (type.tensor.dtype == DType::string || offset < 0 || offset % kAlignment != 0 || offset > all || bytes > all - offset)
    in.bad("a constant lies outside the kept weights");
  return Tensor(type.tensor.dtype, std::move(shape), kept.owner, kept.weights.data() + offset);
}

Tensor read_value(ir::Scanner& in, const plan::KeptModel& kept) {
  if (in.take("literal ")) return ir::parse_literal(in);
  if (!in.take("stored ")) in.bad("'profile', 'range', 'default', 'stored' or 'literal' expected");
  return read_stored(in, kept);
}

void read_calibration(ir::Scanner& in, ModelOfPlan& model) {
  CalibrationReport& reported = model.calibration;
  reported.method = in.quoted();
  const auto count = [&](const char* what) {
    if (!in.take(what)) in.bad("a number of a calibration expected");
    return static_cast<int>(std::clamp<std::int64_t>(in.integer(), 0, std::numeric_limits<int>::max()));
  };
  reported.samples = count("samples="), reported.values = count("values=");
  model.config.calibration = Calibration{.sample = {}, .method = reported.method, .cache = {}, .corrections = {}};
  if (in.take("float8_first")) model.config.calibration->types = {DType::f8e4m3fn, DType::i8};
  model.ranges.emplace();
}

void read_seen(ir::Scanner& in, const plan::KeptModel& kept, ModelOfPlan& model) {
  if (!model.ranges) in.bad("a range without a calibration");
  const std::string kind = in.name(), value = in.quoted();
  std::string problem;
  if (!take_kept(kind, value, read_value(in, kept), *model.ranges, problem)) in.bad("'values', 'channels', 'weights' or 'biases' expected");
  if (!problem.empty()) in.bad(problem);
}

ModelOfPlan parse(const plan::KeptModel& kept, const ir::Registry& registry) {
  constexpr std::string_view kGraph = "\ngraph\n";
  static_assert(kHead.size() == kHeadOfCalibrated.size());
  require(kept.text.starts_with(kHead) || kept.text.starts_with(kHeadOfCalibrated), ErrorKind::plan_refused,
          "the plan keeps its model in a form that this version does not know");
  const std::size_t end = kept.text.find(kGraph);
  require(end != std::string::npos, ErrorKind::plan_refused, "the plan keeps a model without a graph");
  ir::Scanner in(std::string_view(kept.text).substr(kHead.size(), end + 1 - kHead.size()));
  ModelOfPlan model{ir::Graph(registry), {}, {}, {}, {}, {}};
  BuildConfig& config = model.config;
  if (!in.take("kind ")) in.bad("'kind' expected");
  model.kind = in.quoted();
  if (!in.take("name ")) in.bad("'name' expected");
  model.name = in.quoted();
  if (!in.take("options ")) in.bad("'options' expected");
  read_options(in, config);
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  while (in.peek() != '\0') {
    if (in.take("profile")) {
      config.profiles.emplace_back();
    } else if (in.take("range ")) {
      if (config.profiles.empty()) in.bad("a range without a profile");
      const std::string input = in.quoted();
      ShapeRange& range = config.profiles.back()[input];
      range.min = read_shape(in), range.opt = read_shape(in), range.max = read_shape(in);
    } else if (in.take("default ")) {
      const std::string input = in.quoted();
      config.input_defaults[input] = read_value(in, kept);
    } else if (in.take("calibration ")) {
      read_calibration(in, model);
    } else if (in.take("seen ")) {
      read_seen(in, kept, model);
    } else {
      auto constant = std::make_shared<ir::Constant>();
      constant->tensor = read_value(in, kept);
      constants.push_back(std::move(constant));
    }
  }
  model.graph = ir::parse_graph(std::string_view(kept.text).substr(end + kGraph.size()), registry, {.constants = &constants});
  return model;
}

}  // namespace

plan::KeptModel keep_model(const ir::Graph& graph, const BuildConfig& config, const std::string& name, const std::string& kind,
                           const Findings& findings) {
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  const std::string body = ir::print(graph, {.names = true, .constants = &constants});
  const bool calibrated = config.calibration && findings.ranges;
  std::string text = cat(calibrated ? kHeadOfCalibrated : kHead, "kind ", quoted(kind), " name ", quoted(name), "\n");
  text += cat("options ", options_text(config), "\n");
  for (const OptimizationProfile& profile : config.profiles) {
    text += "profile\n";
    for (const auto& [input, r] : profile) text += cat("range ", quoted(input), " ", ints(r.min), " ", ints(r.opt), " ", ints(r.max), "\n");
  }
  std::int64_t bytes = 0;
  std::vector<std::pair<std::int64_t, const Tensor*>> stored;
  const auto keep = [&](const Tensor& t) {
    if (t.dtype() == DType::string || t.size() <= kLongestLiteral) {
      text += cat("literal ", ir::text(ir::Attribute(t)), "\n");
    } else {
      text += cat("stored ", ir::text(ir::TensorType{t.dtype(), ir::to_dims(t.shape())}), " ", bytes, "\n");
      stored.emplace_back(bytes, &t);
      bytes = round_up(checked_add(bytes, t.bytes()), kAlignment);
    }
  };
  for (const auto& [input, value] : config.input_defaults) text += cat("default ", quoted(input), " "), keep(value);
  if (calibrated) {
    const CalibrationReport& reported = findings.calibration;
    const std::vector<DType>& types = config.calibration->types;
    const bool float8_first = !types.empty() && types.front() == DType::f8e4m3fn;
    text += cat("calibration ", quoted(reported.method), " samples=", reported.samples, " values=", reported.values,
                float8_first ? " float8_first" : "", "\n");
    each_kept(*findings.ranges, [&](std::string_view seen, const std::string& value, const Tensor& t) {
      text += cat("seen ", seen, " ", quoted(value), " "), keep(t);
    });
  }
  for (const auto& constant : constants) keep(constant->tensor);
  const auto memory = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes));
  for (const auto& [offset, t] : stored)
    if (t->bytes() > 0) std::memcpy(memory->data() + offset, t->raw(), static_cast<std::size_t>(t->bytes()));
  return {text + "graph\n" + body, memory, *memory};
}

ModelOfPlan read_kept_model(const plan::KeptModel& kept, const ir::Registry& registry) {
  try {
    return parse(kept, registry);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::plan_refused || e.kind() == ErrorKind::out_of_memory) throw;
    throw Error(ErrorKind::plan_refused, cat("the model that the plan keeps: ", e.what()));
  }
}

}  // namespace tenfold::builder
