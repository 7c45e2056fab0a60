#include "protocol/config_json.h"

#include <charconv>
#include <map>

#include "protocol/json_text.h"

namespace tenfold::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string object(const Message& message);

// `at`: of a list, else -1.
std::string value_of(const Message& message, const FieldDescriptor* field, int at) {
  const auto* r = message.GetReflection();
  const bool list = at >= 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return object(list ? r->GetRepeatedMessage(message, field, at) : r->GetMessage(message, field));
    case FieldDescriptor::CPPTYPE_STRING:
      return json_string(list ? r->GetRepeatedString(message, field, at) : r->GetString(message, field));
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = list ? r->GetRepeatedEnum(message, field, at) : r->GetEnum(message, field);
      return json_string(value->name());
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return (list ? r->GetRepeatedBool(message, field, at) : r->GetBool(message, field)) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(list ? r->GetRepeatedInt32(message, field, at) : r->GetInt32(message, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(list ? r->GetRepeatedInt64(message, field, at) : r->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(list ? r->GetRepeatedUInt32(message, field, at) : r->GetUInt32(message, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(list ? r->GetRepeatedUInt64(message, field, at) : r->GetUInt64(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT: return number(list ? r->GetRepeatedFloat(message, field, at) : r->GetFloat(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE: return number(list ? r->GetRepeatedDouble(message, field, at) : r->GetDouble(message, field));
  }
  return "null";
}

std::string map_of(const Message& message, const FieldDescriptor* field) {
  const auto* r = message.GetReflection();
  std::map<std::string, std::string> entries;    // in an order that stays
  for (int i = 0; i < r->FieldSize(message, field); ++i) {
    const Message& entry = r->GetRepeatedMessage(message, field, i);
    const std::string key = value_of(entry, entry.GetDescriptor()->map_key(), -1);
    entries[key[0] == '"' ? key : "\"" + key + "\""] = value_of(entry, entry.GetDescriptor()->map_value(), -1);
  }
  std::string out;
  for (const auto& [key, value] : entries) out += (out.empty() ? "" : ",") + key + ":" + value;
  return "{" + out + "}";
}

std::string list_of(const Message& message, const FieldDescriptor* field) {
  std::string out;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
    out += (out.empty() ? "" : ",") + value_of(message, field, i);
  return "[" + out + "]";
}

std::string object(const Message& message) {
  const auto* descriptor = message.GetDescriptor();
  std::string out;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated() && (is_message || field->containing_oneof()) && !message.GetReflection()->HasField(message, field)) continue;
    out += (out.empty() ? "\"" : ",\"") + field->name() + "\":" +
           (field->is_map() ? map_of(message, field) : field->is_repeated() ? list_of(message, field) : value_of(message, field, -1));
  }
  return "{" + out + "}";
}

}  // namespace

std::string config_json(const inference::ModelConfig& config) { return object(config); }

}  // namespace tenfold::server
