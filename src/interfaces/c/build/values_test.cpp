// Strings, sequences, maps and nothing through the C interface.
#include <gtest/gtest.h>

#include <string>

#include "builder/builder.h"
#include "ir/text.h"
#include "tenfold/c_api.h"

namespace {

void ok(tenfold_status status) { ASSERT_EQ(status, TENFOLD_OK) << tenfold_status_name(status) << ": " << tenfold_last_error(); }

tenfold_engine* engine_of(const char* text) {
  tenfold::BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  const auto plan = tenfold::builder::build_graph(tenfold::ir::parse_graph(text, tenfold::ir::Registry::builtin()), config).serialize();
  tenfold_engine* engine = nullptr;
  ok(tenfold_engine_load_bytes(plan.data(), plan.size(), nullptr, &engine));
  return engine;
}

std::string text_of(const tenfold_data* data, std::size_t index) {
  const char* text = nullptr;
  std::size_t bytes = 0;
  ok(tenfold_data_string(data, index, &text, &bytes));
  return {text, bytes};
}

TEST(CValues, StringsAndSequences) {
  tenfold_engine* engine = engine_of(R"((x string[2], s seq(string[2]), o opt(string[2]))
    y = StringConcat(x, x)
    t = SequenceInsert(s, y)
    h = OptionalHasElement(o)
    return y, t, h)");
  char type[32];
  std::size_t room = sizeof type;
  ok(tenfold_engine_binding_type(engine, 1, type, &room));
  EXPECT_STREQ(type, "seq(string[2])");
  EXPECT_EQ(tenfold_engine_binds_values(engine, 0), 1);
  EXPECT_EQ(tenfold_engine_binds_values(engine, 5), 0);

  const char* const words[] = {"ab", "c"};
  const std::int64_t shape[] = {2};
  tenfold_data *x = nullptr, *s = nullptr, *nothing = nullptr, *y = nullptr, *t = nullptr, *last = nullptr;
  ok(tenfold_data_strings(words, shape, 1, &x));
  ok(tenfold_data_sequence(&x, 1, &s));
  ok(tenfold_data_nothing(&nothing));
  EXPECT_EQ(tenfold_data_kind(nothing), TENFOLD_DATA_NOTHING);
  tenfold_context* context = nullptr;
  ok(tenfold_context_create(engine, &context));
  EXPECT_NE(tenfold_context_bind_value(context, 0, s), TENFOLD_OK);
  EXPECT_NE(std::string(tenfold_last_error()).find("string[2] expected"), std::string::npos) << tenfold_last_error();
  ok(tenfold_context_bind_value(context, 0, x)), ok(tenfold_context_bind_value(context, 1, s));
  ok(tenfold_context_bind_value(context, 2, nothing));
  bool there = true;
  ok(tenfold_context_bind(context, 5, &there, sizeof there));
  ok(tenfold_context_run(context));
  ok(tenfold_context_bound_value(context, 3, &y)), ok(tenfold_context_bound_value(context, 4, &t));
  EXPECT_FALSE(there);
  EXPECT_EQ(text_of(y, 0), "abab");
  EXPECT_EQ(tenfold_data_kind(t), TENFOLD_DATA_SEQUENCE);
  ASSERT_EQ(tenfold_data_count(t), 2U);
  ok(tenfold_data_element(t, 1, &last));
  EXPECT_EQ(text_of(last, 1), "cc");
  EXPECT_NE(tenfold_data_element(t, 2, &last), TENFOLD_OK);
  for (tenfold_data* data : {x, s, nothing, y, t, last}) tenfold_data_free(data);
  tenfold_context_free(context), tenfold_engine_free(engine);
}

TEST(CValues, Maps) {
  const char* const words[] = {"a", "b"};
  const std::int64_t shape[] = {2};
  const float one = 1, two = 2;
  tenfold_data *keys = nullptr, *first = nullptr, *second = nullptr, *map = nullptr, *again = nullptr;
  ok(tenfold_data_strings(words, shape, 1, &keys));
  ok(tenfold_data_tensor("f32", nullptr, 0, &one, sizeof one, &first));
  ok(tenfold_data_tensor("f32", nullptr, 0, &two, sizeof two, &second));
  const tenfold_data* const values[] = {first, second};
  EXPECT_NE(tenfold_data_map(keys, values, 1, &map), TENFOLD_OK);
  ok(tenfold_data_map(keys, values, 2, &map));
  EXPECT_EQ(tenfold_data_kind(map), TENFOLD_DATA_MAP);
  ok(tenfold_data_keys(map, &again));
  EXPECT_EQ(text_of(again, 1), "b");
  for (tenfold_data* data : {keys, first, second, map, again}) tenfold_data_free(data);
}

}  // namespace
