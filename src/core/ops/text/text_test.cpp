// RegexFullMatch beside RE2 (google-re2 1.1), what it refuses, and patterns made to take for ever.
#include "ops/expect_case_for_tests.h"
#include "ops/text/regex_common.h"

namespace tenfold::ops {
namespace {

TEST(RegexFullMatch, CasesRun) { expect_cases_run("RegexFullMatch"); }

TEST(RegexFullMatch, ShapesStay) {
  expect_case({"RegexFullMatch", R"(string[2,2]{"ab","a","","b"} pattern="a.?")", "bool[2,2]{1,1,0,0}"});
  expect_case({"RegexFullMatch", R"(string[]{"a"} pattern="")", "bool[]{0}"});
  expect_case({"RegexFullMatch", R"(string[0,2]{} pattern="a")", "bool[0,2]{}"});
}

struct Pattern {
  std::string pattern;
  std::vector<std::string> match, others;
};

TEST(RegexFullMatch, IsRe2s) {
  const std::vector<Pattern> patterns = {
      {"a|ab", {"a", "ab"}, {"", "abc", "b"}},
      {"(a|b)*?c{2}", {"cc", "abacc"}, {"c", "abccc"}},
      {"(?P<year>\\d{4})-(?:\\d\\d){1,2}", {"2026-11", "2026-1126"}, {"2026-1", "\u0662026-11"}},
      {".", {"a", "é", "日", "𝄞", "\r", std::string(1, '\0')}, {"", "\n", "ab", "\xc3", "\xff", "\xc0\x80"}},
      {"[é-ü]+", {"é", "üë"}, {"e", "\xc3"}},
      {"\\w\\W", {"a-", "_é"}, {"éa", "--"}},
      {"\\s\\S", {" \v", "\ta"}, {"\v\v", "  "}},
      {"[]a-]+[^]\\D]", {"]-a7"}, {"]-ab", "]]"}},
      {"[[:alpha:]]\\x41\\x{1D11E}[[:^digit:]x]", {"zA𝄞-"}, {"éA𝄞-", "zA𝄞1"}},
      {"^\\Aa\\b-\\Bx?\\z$", {"a-"}, {"a-x", "a"}},
      {"a{,2}{", {"a{,2}{"}, {"aa"}},
      {"(|a)+", {"", "aaa"}, {"b"}},
      {"\\.\\-\\/", {".-/"}, {"a-/"}},
  };
  for (const Pattern& p : patterns) {
    const FullMatch matches(p.pattern);
    for (const std::string& text : p.match) EXPECT_TRUE(matches(text)) << p.pattern << " and '" << text << "'";
    for (const std::string& text : p.others) EXPECT_FALSE(matches(text)) << p.pattern << " and '" << text << "'";
  }
}

void expect_pattern_refused(const std::string& pattern, ErrorKind kind, const std::string& part) {
  try {
    ir::Graph graph(ir::Registry::builtin());
    ir::Value* x = graph.add_input("x", {.tensor = {DType::string, {ir::Dim(1)}}});
    ir::Node node;
    node.def = &ir::Registry::builtin().get("RegexFullMatch"), node.inputs = {x};
    node.attributes.set("pattern", pattern);
    graph.add(std::move(node), 1);
    ADD_FAILURE() << pattern.substr(0, 80) << " is taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(RegexFullMatch, RefusesWhatRe2Refuses) {
  const std::vector<std::pair<std::string, std::string>> patterns = {
      {"(a", "has no ')'"}, {"a)", "has no '('"}, {"[a", "has no ']'"}, {"[b-a]", "ends below"}, {"a**", "a repeat of the repeat"},
      {"*a", "nothing before it"}, {"({2})", "nothing before it"},
      {"a{3,2}", "ends below"}, {"a{1001}", "above 1000"}, {"a\\", "ends with"},
      {"\\y", "what follows"}, {"[[:letters:]]", "no class"}, {"(?=a)", "look-ahead"}, {"(?<!a)", "look-behind"}, {"(?P<a-b>c)", "no name"},
      {"\\x{110000}", "no code point"}, {"\xc3", "no UTF-8"}};
  for (const auto& [pattern, part] : patterns) expect_pattern_refused(pattern, ErrorKind::invalid_model, part);
}

TEST(RegexFullMatch, RefusesWhatItHasNot) {
  for (const char* pattern : {"(?i)a", "(?s:.)", "\\pL", "\\Qa\\E", "\\C", "(a)\\1", "\\012"})
    expect_pattern_refused(pattern, ErrorKind::unsupported, "is not supported");
  expect_pattern_refused(std::string(1001, 'a'), ErrorKind::unsupported, "more than 1000 bytes");
  expect_pattern_refused("((a{50}){50}){50}", ErrorKind::unsupported, "more than 1000 parts");
  expect_pattern_refused(std::string(51, '(') + std::string(51, ')'), ErrorKind::unsupported, "more than 50 others");
}

TEST(RegexFullMatch, IsLinear) {   // backtracking would take longer than the world, or the stack
  const std::string many(20000, 'a');
  for (const char* pattern : {"(a*)*b", "((a+)+)+b", "(a|a|aa)+b", "(.*)(.*)(.*)(.*)b"}) EXPECT_FALSE(FullMatch(pattern)(many)) << pattern;
  EXPECT_TRUE(FullMatch("(a?){200}a{200}")(std::string(200, 'a')));
  EXPECT_LT(FullMatch("(.*){300}").max_bytes(), static_cast<std::int64_t>(3 * many.size()));   // too long for so many parts
}

}  // namespace
}  // namespace tenfold::ops
