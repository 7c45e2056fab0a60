// Rules of configurations: every field has a fate, texts and numbers survive, what is wrong is told by name.
#include <gtest/gtest.h>

#include <functional>

#include "config/config_text.h"
#include "config/field_rules.h"
#include "config/scheduling.h"
#include "core/reshape.h"
#include "protocol/config_json.h"
#include "repository/layout.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// All fields by their paths, those of maps as one.
void walk(const Descriptor* message, const std::string& prefix, std::vector<std::string>& paths) {
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* field = message->field(i);
    const std::string path = prefix + field->name();
    paths.push_back(path);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map()) walk(field->message_type(), path + ".", paths);
  }
}

TEST(FieldRules, EveryFieldHasAFate) {
  std::vector<std::string> paths;
  walk(inference::ModelConfig::descriptor(), "", paths);
  EXPECT_GT(paths.size(), 100u);
  for (const std::string& path : paths) {
    if (path == "optimization" || path == "model_transaction_policy") continue;  // their fields have their own
    EXPECT_TRUE(rule_of(path)) << path;
  }
  for (const FieldRule& rule : field_rules()) {
    EXPECT_NE(std::find(paths.begin(), paths.end(), rule.path), paths.end()) << rule.path << " is no field";
    EXPECT_EQ(rule.fate == Fate::honored, rule.why.empty()) << rule.path;
  }
}

TEST(FieldRules, RefusedFieldsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"sequence_batching { }", "sequence_batching"},
      {"ensemble_scheduling { step { model_name: 'a' } }", "ensemble_scheduling"},
      {"batch_input { target_name: 'a' }", "batch_input"},
      {"batch_output { target_name: 'a' }", "batch_output"},
      {"input { name: 'a' allow_ragged_batch: true }", "input.allow_ragged_batch"},
      {"input { is_shape_tensor: true }", "input.is_shape_tensor"},
      {"input { is_non_linear_format_io: true }", "input.is_non_linear_format_io"},
      {"output { is_shape_tensor: true }", "output.is_shape_tensor"},
      {"output { is_non_linear_format_io: true }", "output.is_non_linear_format_io"},
      {"instance_group { rate_limiter { priority: 1 } }", "instance_group.rate_limiter"},
      {"instance_group { secondary_devices { device_id: 1 } }", "instance_group.secondary_devices"},
      {"instance_group { profile: '1' }", "instance_group.profile"},
      {"instance_group { passive: true }", "instance_group.passive"},
      {"cc_model_filenames { key: '7.0' value: 'a' }", "cc_model_filenames"},
      {"model_operations { op_library_filename: 'a' }", "model_operations"},
      {"model_transaction_policy { decoupled: true }", "model_transaction_policy.decoupled"},
      {"model_repository_agents { agents { name: 'a' } }", "model_repository_agents"},
      {"optimization { execution_accelerators { gpu_execution_accelerator { name: 'tensorrt' } } }", "optimization.execution_accelerators"},
  };
  std::size_t refused = 0;
  for (const FieldRule& rule : field_rules()) refused += rule.fate == Fate::refused;
  EXPECT_EQ(refused, std::size(cases)) << "each refused field has a case here";
  for (const auto& [text, field] : cases) {
    const std::string error = error_of([&] { check_fields(parse_config(text, "here")); });
    EXPECT_NE(error.find("field '" + std::string(field) + "' is not supported by Tenfold's server: "), std::string::npos) << text << error;
  }
  EXPECT_EQ(error_of([] { check_fields(parse_config("optimization { execution_accelerators { } }", "here")); }), "");
}

TEST(FieldRules, FieldsWithoutEffectGetALine) {
  const auto lines =
      check_fields(parse_config("runtime: 'x' optimization { cuda { graphs: true } graph { level: 1 } priority: PRIORITY_MAX "
                                "input_pinned_memory { enable: true } output_pinned_memory { enable: true } "
                                "gather_kernel_buffer_threshold: 3 eager_batching: true } instance_group { host_policy: 'a' } "
                                "input { format: FORMAT_NHWC } input { format: FORMAT_NHWC }",
                                "here"));
  EXPECT_EQ(lines.size(), 10u);
  for (const std::string& line : lines) EXPECT_NE(line.find(" changes nothing: "), std::string::npos) << line;
  EXPECT_TRUE(
      check_fields(parse_config("name: 'a' max_batch_size: 4 dynamic_batching { } parameters { key: 'a' value { } }", "x")).empty());
}

TEST(ConfigText, ErrorsHaveLineAndColumn) {
  EXPECT_EQ(error_of([] { parse_config("max_batch_size: 4\n\n  foo: 3\n", "a/config.pbtxt"); }),
            "failed to read text proto from a/config.pbtxt: Error parsing text-format inference.ModelConfig: 3:6: Message type "
            "\"inference.ModelConfig\" has no field named \"foo\".");
  EXPECT_NE(error_of([] { parse_config("name: \"\xff\"", "here"); }).find("not UTF-8"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "optimization { cuda { graph_spec { graph_lower_bound { input { key: 'a' value { ";
  EXPECT_NE(error_of([&] { parse_config(deep, "here"); }), "");
}

TEST(ConfigText, SurvivesPrinting) {
  const std::string text =
      "name: 'a\\n\\'' max_batch_size: 4 dynamic_batching { priority_queue_policy { key: 2 value { max_queue_size: 3 } } }";
  const auto config = parse_config(text, "here");
  EXPECT_EQ(config_text(parse_config(config_text(config), "again")), config_text(config));
  EXPECT_EQ(config_text(parse_config_json(config_json(config))), config_text(config));
}

TEST(ConfigJson, HasAllPlainFieldsAndNumbersAsNumbers) {
  const std::string json =
      config_json(parse_config("max_batch_size: 4 input { dims: [ 9223372036854775807, -1 ] } parameters { key: 'b' value "
                               "{ string_value: '\\\"' } } parameters { key: 'a' value { } }",
                               "here"));
  for (const char* part : {"\"name\":\"\"", "\"dims\":[9223372036854775807,-1]", "\"data_type\":\"TYPE_INVALID\"", "\"model_warmup\":[]",
                           "\"parameters\":{\"a\":{\"string_value\":\"\"},\"b\":{\"string_value\":\"\\\"\"}}"})
    EXPECT_NE(json.find(part), std::string::npos) << part << json;
  EXPECT_EQ(json.find("\"optimization\""), std::string::npos);
}

TEST(Scheduling, FieldsOfTheQueue) {
  auto config = parse_config(
      "max_batch_size: 8 dynamic_batching { preferred_batch_size: [ 2, 4 ] max_queue_delay_microseconds: 7 "
      "preserve_ordering: true priority_levels: 3 default_priority_level: 2 default_queue_policy { timeout_action: "
      "DELAY default_timeout_microseconds: 18446744073709551615 max_queue_size: 5 } priority_queue_policy { key: 3 "
      "value { max_queue_size: 6 allow_timeout_override: true } } }",
      "here");
  QueueOptions queue;
  set_scheduling(config, queue);
  EXPECT_EQ(queue.max_batch, 8);
  EXPECT_EQ(queue.preferred_rows, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(queue.max_delay.count(), 7);
  EXPECT_TRUE(queue.preserve_ordering);
  EXPECT_EQ(queue.priority_levels, 3u);
  EXPECT_EQ(queue.default_priority, 2u);
  EXPECT_EQ(queue.timeout_action, TimeoutAction::delay);
  EXPECT_FALSE(queue.allow_timeout_override);
  EXPECT_GT(queue.default_timeout.count(), 0);  // more than clocks hold is a long time, not a negative one
  EXPECT_EQ(queue.max_requests, 5u);
  EXPECT_EQ(queue.level_policies.at(3).max_requests, 6u);
  auto plain = parse_config("max_batch_size: 8", "here");
  set_scheduling(plain, queue);
  EXPECT_EQ(queue.max_batch, 0);  // without dynamic_batching requests are not put together
}

TEST(Reshape, OpenExtentsStandForEachOther) {
  const std::int64_t shape[] = {5, 2, 3, 7};
  EXPECT_EQ(reshaped(shape, {2, -1, 7}, {-1, 14}, true), (Shape{5, 3, 14}));
  EXPECT_EQ(reshaped(std::span(shape).first(2), {1}, {}, true), (Shape{5}));
  EXPECT_EQ(reshaped(std::span(shape).first(1), {}, {1}, true), (Shape{5, 1}));
}

TEST(Layout, NamesOfModels) {
  for (const char* good : {"a", "A.b-c_9", "1"}) EXPECT_TRUE(is_model_name(good)) << good;
  for (const std::string& bad : {std::string(), std::string(".."), std::string("a/b"), std::string("a\0b", 3), std::string(4096, 'a'),
                                std::string("-a"), std::string("a b"), std::string("\xc3\xa4")})
    EXPECT_FALSE(is_model_name(bad)) << bad;
}

TEST(Layout, VersionsByPolicy) {
  const std::vector<std::int64_t> there = {1, 3, 20};
  const auto chosen = [&](const char* policy) { return chosen_versions(there, parse_config(policy, "here"), "m"); };
  EXPECT_EQ(chosen(""), (std::vector<std::int64_t>{20}));
  EXPECT_EQ(chosen("version_policy { latest { num_versions: 2 } }"), (std::vector<std::int64_t>{3, 20}));
  EXPECT_EQ(chosen("version_policy { all { } }"), there);
  EXPECT_EQ(chosen("version_policy { specific { versions: [ 3, 1, 3 ] } }"), (std::vector<std::int64_t>{1, 3}));
  EXPECT_NE(error_of([&] { chosen("version_policy { specific { versions: 4 } }"); }).find("version 4 is specified"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::server
