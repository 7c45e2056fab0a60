// Chat templates without a folder: white space, lines of messages, bounds. python/tests/chat_templates_test.py judges the language.
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "tenfold/error.h"
#include "text/chat/parser.h"
#include "text/chat/renderer.h"

namespace tenfold::chat {
namespace {

std::string rendered(const std::string& text, const std::string& messages = R"([{"role": "user", "content": "hi"}])") {
  const Body body = parsed_template(text);
  return Renderer().run(body, {{"messages", value_of(nlohmann::ordered_json::parse(messages))}});
}

void expect_refused(const std::string& text, ErrorKind kind, const std::string& part) {
  try {
    ADD_FAILURE() << text << " became " << rendered(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find("the chat template, line "), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(ChatTemplate, WritesMessages) {
  EXPECT_EQ(rendered("{% for m in messages %}\n  <{{ m.role }}>{{ m['content'] | trim }}\n{% endfor %}\nend\n"), "  <user>hi\nend");
  EXPECT_EQ(rendered("{{ messages }}"), "[{'role': 'user', 'content': 'hi'}]");
  EXPECT_EQ(rendered("{{ messages | tojson(indent=1) }}"), "[\n {\n  \"role\": \"user\",\n  \"content\": \"hi\"\n }\n]");
}

TEST(ChatTemplate, NamesTheLine) {
  expect_refused("a\n\n{{ nobody.x }}", ErrorKind::invalid_argument, "line 3: 'nobody' is undefined");
  expect_refused("{% if 1 %}\n{{ raise_exception('not so') }}{% endif %}", ErrorKind::invalid_argument, "line 2: not so");
  expect_refused("\n{% for x of y %}", ErrorKind::invalid_model, "line 2: 'in' was expected, not 'of'");
  expect_refused("\n\n{% import 'x' as y %}", ErrorKind::unsupported, "line 3: the statement {% import %}");
}

TEST(ChatTemplate, EndsWhatDoesNot) {
  const std::string many = "{% for i in range(99999) %}", end = "{% endfor %}";
  expect_refused(many + "\n" + many + end + end, ErrorKind::invalid_model,
                 "it takes more than 5000000 steps: it does not end, or goes over values that are too large");
  expect_refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", ErrorKind::invalid_argument, "600 deep");
  expect_refused("{% set n = namespace(t='ab') %}" + many + "{% set n.t = n.t ~ n.t %}" + end, ErrorKind::invalid_argument, "characters");
  expect_refused("{{ " + std::string(100000, '(') + std::string(100000, ')') + " }}", ErrorKind::invalid_model, "200 deep");
  expect_refused("{{ " + std::string(100000, '-') + "1 }}", ErrorKind::invalid_model, "200 deep");
  EXPECT_THROW(value_of(nlohmann::ordered_json::parse(std::string(5000, '[') + std::string(5000, ']'))), Error);
  EXPECT_EQ(rendered("{{ " + std::string(190, '(') + "7" + std::string(190, ')') + " }}"), "7");
  expect_refused("{{ " + std::string(201, '(') + "7" + std::string(201, ')') + " }}", ErrorKind::invalid_model, "200 deep");
  std::string maps = "'map'";
  for (int i = 0; i < 2000; ++i) maps += ",'map'";
  expect_refused("{{ 'a' | map(" + maps + ") }}", ErrorKind::invalid_argument, "600 deep");
  EXPECT_EQ(rendered("{{ '' * 9223372036854775807 }}{{ 9223372036854775807 * '' }}x"), "x");
}

// Values that hold each other through functions: without a bound they end within each other, and the stack does not suffice.
TEST(ChatTemplate, BoundsWhatFunctionsHold) {
  const std::string space = "{% set ns = namespace(f=0) %}";
  expect_refused(space + "{% for i in range(100000) %}{% set ns.f = [ns.f].count %}{% endfor %}", ErrorKind::invalid_argument,
                 "lie in each other more than 100 deep");
  EXPECT_EQ(rendered(space + "{% for i in range(50000) %}{% for j in [1] %}{% set x = loop.changed(ns.f) %}{% set ns.f = loop.changed %}"
                             "{% endfor %}{% endfor %}x"),
            "x");
  EXPECT_EQ(rendered(space + "{% for i in range(20000) %}{% set x = ns.f %}{% for j in [1] recursive %}{% set ns.f = loop['()'] %}"
                             "{% endfor %}{% endfor %}{{ ns.f }}x"),
            "x");
  EXPECT_EQ(rendered("{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{{ loop['last given'] }} {% endfor %}"), "True False True ");
  const std::string deepest = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(rendered("{{ messages.count(1) }}", deepest), "0");  // methods of the deepest values are there
}

// The fourth text of join() and the third element of the list would be refused, were they looked at.
TEST(ChatTemplate, StopsWhereTextsAreTooLarge) {
  const auto of_thousand = [](const std::string& one) {
    std::string text = "\"";
    for (int i = 0; i < 1000; ++i) text += one;
    return text + '"';
  };
  const auto expect_too_large = [](const std::string& text, const std::string& messages) {
    try {
      ADD_FAILURE() << rendered(text, messages).size();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(" more than "), std::string::npos) << e.what();
    }
  };
  expect_too_large("{% set x = messages * 40000 %}{{ x.join(['a', 'b', 'c', 1]) }}", of_thousand("x"));
  expect_too_large("{% set x = messages * 6000 %}{{ [x, x, namespace()] | tojson }}", of_thousand("\\u0001"));
  expect_too_large("{% set x = 'x' * 60000 * 600 %}{{ (messages * 60) | indent(x, blank=true) }}", of_thousand("\\n"));
  expect_too_large("{% for x in messages * 60000 %}{% endfor %}", of_thousand("x"));
}

// Each took a minute or more where its time grew with the product of two sizes; it is a few milliseconds.
TEST(ChatTemplate, TakesTimeInProportion) {
  const std::clock_t begin = std::clock();
  const std::string text = "{% set t = 'a' * 1000 * 3000 %}{% set half = 'a' * 1000 * 1500 %}", part = text + "{% set p = half ~ 'b' %}";
  EXPECT_EQ(rendered(part + "{{ p in t }} {{ t is in p }} {{ t.find(p) }} {{ t.rfind('b' ~ half) }}"), "False False -1 -1");
  EXPECT_EQ(rendered(part + "{{ t.count(p) }} {{ t.split(p) | length }} {{ t.rsplit('b' ~ half) | length }} {{ t.replace(p, '') == t }}"),
            "0 1 1 True");
  EXPECT_EQ(rendered(part + "{{ t.strip('b' * 1000 * 1000 ~ 'a') }}x"), "x");
  EXPECT_EQ(rendered(text + "{{ ([t] + ('A ' * 4000).split()) | max == t }} {{ ([t] + ('b ' * 4000).split()) | min == t }}"), "True True");
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 60);
  EXPECT_EQ(rendered("{{ 'abcabca'.rfind('a') }} {{ 'abcabca'.rfind('') }} {{ 'abcabca'.find('') }} {{ 'aaaaa'.rsplit('aa') }} "
                     "{{ 'a,b,c'.rsplit(',', 1) }} {{ 'é-ü-'.rfind('ü') }}"),
            "6 7 0 ['a', '', ''] ['a,b', 'c'] 2");
}

// What damaged templates do is a message or a text, never more: sanitizers watch.
TEST(ChatTemplate, SurvivesDamage) {
  const std::string whole =
      "{% set ns = namespace(a=1) %}{%- for m in messages if m.role != 'x' recursive -%}{{ loop.index ~ m['content'][::-1] | upper }}"
      "{% set ns.a = ns.a + 1 %}{% if m is mapping and not loop.last %}{{ m | tojson(indent=2) }}{% elif ns.a > 2 %}{% break %}{% endif %}"
      "{% endfor %}{% macro f(a, b=2) %}{{ a }}{{ caller() }}{% endmacro %}{% call(x) f(1) %}{{ messages | map(attribute='role') | join }}"
      "{% endcall %}{% raw %}{{ x }}{% endraw %}{# c #}{{ 'a' if ns.a else {'b': [1, 2.5e3, none]} }}";
  std::uint32_t random = 1;
  const auto next = [&] { return random = random * 1664525 + 1013904223, random >> 8; };
  int texts = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    for (std::uint32_t cuts = next() % 3 + 1; cuts > 0; --cuts) {
      const std::size_t at = next() % text.size(), size = next() % 12;
      const std::string piece = whole.substr(next() % whole.size(), next() % 12);
      text.replace(at, std::min(size, text.size() - at), piece);
    }
    try {
      rendered(text);
      ++texts;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(texts, 500);
}

}  // namespace
}  // namespace tenfold::chat
