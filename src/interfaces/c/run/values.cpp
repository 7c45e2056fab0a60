// Strings, sequences, maps and nothing from C.
#include "tenfold/c/values.h"

#include "c/run/common.h"
#include "tenfold/bindings.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

std::vector<RuntimeValue> values_of(const tenfold_data* const* list, std::size_t count) {
  require(list != nullptr || count == 0, ErrorKind::invalid_argument, "the list of data is null");
  std::vector<RuntimeValue> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(need(list[i], "an element").value);
  return values;
}

tenfold_status make(tenfold_data** made, const auto& value) {
  return guarded([&] { place(made, "the place for the data", [&] { return new tenfold_data{value()}; }); });
}

}  // namespace

extern "C" tenfold_status tenfold_data_strings(const char* const* strings, const int64_t* shape, int32_t rank, tenfold_data** made) {
  return make(made, [&] {
    const Shape extents = shape_of(shape, rank);
    const std::int64_t count = element_count(extents);
    require(strings != nullptr || count == 0, ErrorKind::invalid_argument, "the list of strings is null");
    std::vector<std::string> list;
    for (std::int64_t i = 0; i < count; ++i) list.emplace_back(&need(strings[i], "a string"));
    return RuntimeValue(Tensor::strings(extents, std::move(list)));
  });
}
extern "C" tenfold_status tenfold_data_sequence(const tenfold_data* const* elements, size_t count, tenfold_data** made) {
  return make(made, [&] { return RuntimeValue::sequence(values_of(elements, count)); });
}
extern "C" tenfold_status tenfold_data_map(const tenfold_data* keys, const tenfold_data* const* values, size_t count, tenfold_data** made) {
  return make(made, [&] { return RuntimeValue::map(need(keys, "the keys").value.tensor(), values_of(values, count)); });
}
extern "C" tenfold_status tenfold_data_nothing(tenfold_data** made) {
  return make(made, [] { return RuntimeValue(); });
}

extern "C" tenfold_status tenfold_data_string(const tenfold_data* data, size_t index, const char** text, size_t* bytes) {
  return guarded([&] {
    const std::vector<std::string>& strings = need(data, "the data").value.tensor().string_values();
    require(index < strings.size(), ErrorKind::invalid_argument, "there is no string ", index, " of ", strings.size());
    need(text, "the place for the text") = strings[index].c_str();
    if (bytes) *bytes = strings[index].size();
  });
}
extern "C" size_t tenfold_data_count(const tenfold_data* data) {
  if (!data) return 0;
  return data->value.is_sequence() ? data->value.elements().size() : data->value.is_map() ? data->value.as_map().values.size() : 0;
}
extern "C" tenfold_status tenfold_data_element(const tenfold_data* data, size_t index, tenfold_data** made) {
  return make(made, [&] {
    const RuntimeValue& value = need(data, "the data").value;
    const std::vector<RuntimeValue>& list = value.is_map() ? value.as_map().values : value.elements();
    require(index < list.size(), ErrorKind::invalid_argument, "there is no element ", index, " of ", list.size());
    return list[index];
  });
}
extern "C" tenfold_status tenfold_data_keys(const tenfold_data* data, tenfold_data** made) {
  return make(made, [&] { return RuntimeValue(need(data, "the data").value.as_map().keys); });
}

extern "C" int32_t tenfold_engine_binds_values(const tenfold_engine* engine, int32_t binding) {
  bool answer = false;
  guarded([&] { answer = binds_values(need(engine, "the engine").engine, binding); });
  return answer;
}
extern "C" tenfold_status tenfold_engine_window_rows(const tenfold_engine* engine, int32_t* input, int32_t* axis) {
  return guarded([&] {
    const WindowRows rows = window_rows(need(engine, "the engine").engine);
    need(input, "the place for the input") = rows.input, need(axis, "the place for the axis") = rows.axis;
  });
}
extern "C" tenfold_status tenfold_engine_binding_type(const tenfold_engine* engine, int32_t binding, char* text, size_t* bytes) {
  return guarded([&] {
    const std::string type = binding_type(need(engine, "the engine").engine, binding);
    std::size_t& size = need(bytes, "the place for the length");
    require(text != nullptr || size == 0, ErrorKind::invalid_argument, "the place for the text is null");
    if (size > 0) {
      const std::size_t length = std::min(type.size(), size - 1);
      std::memcpy(text, type.data(), length);
      text[length] = 0;
    }
    size = type.size() + 1;
  });
}
extern "C" tenfold_status tenfold_context_bind_value(tenfold_context* context, int32_t input, const tenfold_data* data) {
  if (!context || !data) return failed(TENFOLD_INVALID_ARGUMENT, context ? "the data is null" : "the context is null");
  return outcome(*context->context, bind_value(*context->context, input, data->value));
}
extern "C" tenfold_status tenfold_context_bound_value(const tenfold_context* context, int32_t binding, tenfold_data** made) {
  return make(made, [&] { return bound_value(*need(context, "the context").context, binding); });
}
