// Each row of tenfold/build_fields.h does what its columns say. Numbers and enumerations are tried here, whatever their names; fields of
// other types have tests of their own (plan_key_test, build_request_test, c/build/fields_test).
#include "builder/fields.h"

#include <gtest/gtest.h>

#include "background/build_request.h"
#include "builder/options_text.h"
#include "builder/rebuild/kept_model.h"
#include "c/build/builder.h"
#include "ir/text.h"
#include "tenfold/plan_cache.h"

namespace tenfold::background {
namespace {

using builder::FieldForms;

template <class Value>
void change(Value& value) {
  if constexpr (std::is_same_v<Value, bool>) value = !value;
  else if constexpr (std::is_enum_v<Value>) value = static_cast<Value>(static_cast<int>(value) + 1);
  else value = static_cast<Value>(value + 1);
}

// try_one(field, a configuration in which this field alone is not as usual)
template <class Try>
void each_number(Try try_one) {
  int fields = 0;
  builder::each_field([&](auto field) {
    BuildConfig config;
    config.threads = 1;
    auto& value = field.of(config);
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>> || std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
      SCOPED_TRACE(field.kName);
      change(value);
      try_one(field, config), ++fields;
    }
  });
  EXPECT_GT(fields, 25);
}

BuildConfig usual() {
  BuildConfig config;
  config.threads = 1;
  return config;
}

const std::string kModel = "not looked at";
std::string key_of(const BuildConfig& config) { return plan_key(std::as_bytes(std::span(kModel)), config); }

TEST(BuildFields, AreInTheKeyIfTheirRowSaysSo) {
  const std::string key = key_of(usual());
  each_number([&](auto field, const BuildConfig& config) { EXPECT_EQ(key_of(config) != key, field.kForms.in_key.number > 0); });
}

TEST(BuildFields, TravelIfTheirRowSaysSo) {
  each_number([&](auto field, const BuildConfig& config) {
    BuildRequest sent;
    sent.config = config;
    const std::string text = head_of(sent);
    const BuildConfig got = read_request(std::as_bytes(std::span(text))).config;
    EXPECT_EQ(field.of(got) == field.of(config), field.kForms.in_request.number > 0);
  });
}

TEST(BuildFields, AreKeptWithAModelIfTheirRowSaysSo) {
  const ir::Graph graph = ir::parse_graph("(x f32[2])\n  y = Relu(x)\n  return y\n", ir::Registry::builtin());
  each_number([&](auto field, const BuildConfig& config) {
    const plan::KeptModel kept = builder::keep_model(graph, config, "m", "cpu", {});
    const BuildConfig got = builder::read_kept_model(kept, ir::Registry::builtin()).config;
    EXPECT_EQ(field.of(got) == field.of(config), field.kForms.in_kept.number > 0);
  });
}

TEST(BuildFields, AreInTheSummaryIfTheirRowSaysSo) {
  const std::string summary = builder::options_in_words(usual());
  each_number([&](auto field, const BuildConfig& config) {
    EXPECT_EQ(builder::options_in_words(config) != summary, field.kForms.in_summary.number > 0);
  });
}

template <class T>
bool is_other(const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T>) return a != b;
  else return false;
}
template <class T>
void set_to_one(T& member) {
  if constexpr (std::is_arithmetic_v<T>) member = 1;
}

// Of rows where both are numbers.
TEST(BuildFields, AreSetFromC) {
  int fields = 0;
  const auto one = [&](const char* member, auto set, auto differs) {
    SCOPED_TRACE(member);
    tenfold_build_config c{};
    c.struct_size = sizeof c;
    EXPECT_FALSE(differs(c::config_of(&c)));
    set(c);
    EXPECT_TRUE(differs(c::config_of(&c)));
    ++fields;
  };
#define TF_FIELD(type, field, initial, forms, from_c, flag)                                                                  \
  {                                                                                                                          \
    [[maybe_unused]] const auto differs = [](const BuildConfig& made) { return is_other(made.field, BuildConfig().field); }; \
    if (std::is_arithmetic_v<decltype(BuildConfig::field)>) from_c                                                           \
  }
#define TF_C_IS(member) one(#member, [](auto& c) { set_to_one(c.member); }, differs);
#define TF_C_NOT TF_C_IS
#define TF_C_VALUE TF_C_IS
#define TF_C_POSITIVE TF_C_IS
#define TF_C_OWN {}
#define TF_C_LIST(member, count) {}
#define TF_C_CALL(member, user) {}
#define TF_C_NEW(type, member, how) how(member)
#include "tenfold/build_fields.h"
  EXPECT_GT(fields, 20);
}

}  // namespace
}  // namespace tenfold::background
