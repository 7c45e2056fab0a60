// Chat templates without a folder: white space, lines of messages, bounds. python/tests/chat_templates_test.py judges the language.
#include <gtest/gtest.h>

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
  expect_refused(many + "\n" + many + end + end, ErrorKind::invalid_model, "did not end within");
  expect_refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", ErrorKind::invalid_argument, "600 deep");
  expect_refused("{% set n = namespace(t='ab') %}" + many + "{% set n.t = n.t ~ n.t %}" + end, ErrorKind::invalid_argument, "characters");
  expect_refused("{{ " + std::string(100000, '(') + std::string(100000, ')') + " }}", ErrorKind::invalid_model, "200 deep");
  expect_refused("{{ " + std::string(100000, '-') + "1 }}", ErrorKind::invalid_model, "200 deep");
  EXPECT_THROW(value_of(nlohmann::ordered_json::parse(std::string(5000, '[') + std::string(5000, ']'))), Error);
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
