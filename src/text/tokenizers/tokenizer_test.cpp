// What no reference is needed for: what is wrong with a file, memory that is used again, decoding. tests/tokenizer_test.py has the rest.
#include "tenfold/text.h"

#include <gtest/gtest.h>

#include <thread>

namespace tenfold {
namespace {

const std::string kModel =
    R"("model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "un": 1, "##done": 2, "[A]": 3, "[B]": 4, ".": 5, "unx": 6}})";
const std::string kWhole = "{" + kModel + R"(, "pre_tokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"},
  "added_tokens": [{"id": 3, "content": "[A]", "special": true}, {"id": 4, "content": "[B]", "special": true}],
  "post_processor": {"type": "BertProcessing", "cls": ["[A]", 3], "sep": ["[B]", 4]}, "decoder": {"type": "WordPiece", "prefix": "##"}})";

std::string refusal(const std::string& json, ErrorKind kind) {
  try {
    Tokenizer::parse(json);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "taken: " << json;
  return "";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

using Ids = std::vector<std::int32_t>;

TEST(Tokenizer, GivesLongestPieces) {
  const Tokenizer t = Tokenizer::parse(kWhole);
  const Encoding e = t.encode(" \u00dcn\u0301done.x");
  EXPECT_EQ(e.ids, (Ids{3, 1, 2, 5, 0, 4}));
  EXPECT_EQ(e.begins, (Ids{0, 1, 4, 8, 9, 0}));
  EXPECT_EQ(e.ends, (Ids{0, 3, 8, 9, 10, 0}));   // the accent is gone
  EXPECT_EQ(e.special, (Ids{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(t.encode("unxdone", false).ids, (Ids{6, 2}));
  EXPECT_EQ(t.encode("undo", false).ids, (Ids{0}));   // "##do" is no piece: the whole word is unknown
}

TEST(Tokenizer, PutsPairsTogether) {
  const Encoding e = Tokenizer::parse(kWhole).encode_pair("un", "un.");
  EXPECT_EQ(e.ids, (Ids{3, 1, 4, 1, 5, 4}));
  EXPECT_EQ(e.types, (Ids{0, 0, 0, 1, 1, 1}));
}

TEST(Tokenizer, TruncatesAndPads) {
  Tokenizer t = Tokenizer::parse(kWhole);
  t.set_truncation(4);
  t.set_padding(Tokenizer::Padding::longest);
  const std::string_view texts[] = {"un un un", "un", ""};
  const std::vector<Encoding> all = t.encode_batch(texts);
  EXPECT_EQ(all[0].ids, (Ids{3, 1, 1, 4}));
  EXPECT_EQ(all[1].ids, (Ids{3, 1, 4, 0}));
  EXPECT_EQ(all[1].mask, (Ids{1, 1, 1, 0}));
  EXPECT_EQ(all[2].mask, (Ids{1, 1, 0, 0}));
  t.set_truncation(1);
  EXPECT_THROW(t.encode("un"), Error);
}

// Ids as tokenizers 0.23.3 gives them for the same files.
TEST(Tokenizer, CutsPairsToTheirSpecialTokens) {
  for (const char* strategy : {"LongestFirst", "OnlyFirst", "OnlySecond"}) {
    std::string file = kWhole;
    file.back() = ',';
    file += R"("truncation": {"direction": "Right", "max_length": 3, "strategy": ")" + std::string(strategy) + R"(", "stride": 0}})";
    const Tokenizer t = Tokenizer::parse(file);
    EXPECT_EQ(t.encode_pair("un un un", ". . .").ids, (Ids{3, 4, 4})) << strategy;
    EXPECT_EQ(t.encode_pair("", "").ids, (Ids{3, 4, 4})) << strategy;
    EXPECT_EQ(t.encode("un").ids, (Ids{3, 1, 4})) << strategy;
    Tokenizer shorter = Tokenizer::parse(file);
    shorter.set_truncation(2);
    EXPECT_EQ(shorter.encode("un un").ids, (Ids{3, 4})) << strategy;
  }
}

// The numbers of the list "added_tokens" are not looked at: a token that the vocabulary lacks gets the next one.
TEST(Tokenizer, NumbersAddedTokensByTheirOrder) {
  const auto ids = [](const std::string& added) {
    return Tokenizer::parse("{" + kModel + R"(, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": [)" + added + "]}")
        .encode("un <x> [A] <y>").ids;
  };
  EXPECT_EQ(ids(R"({"id": 70, "content": "<x>"}, {"id": 71, "content": "<y>"})"), (Ids{1, 7, 3, 8}));
  EXPECT_EQ(ids(R"({"id": 8, "content": "<y>"}, {"id": 7, "content": "<x>"})"), (Ids{1, 8, 3, 7}));
  EXPECT_EQ(ids(R"({"id": 1, "content": "<x>"}, {"id": 9, "content": "[A]"}, {"id": 1, "content": "<y>"})"), (Ids{1, 7, 3, 8}));
}

TEST(Tokenizer, DecodesWhatItEncoded) {
  const Tokenizer t = Tokenizer::parse(kWhole);
  EXPECT_EQ(t.decode(Ids{3, 1, 2, 5, 4, 99}), "undone.");
  EXPECT_EQ(t.decode(Ids{3, 1}, false), "[A] un");
  EXPECT_EQ(t.id("##done"), 2);
  EXPECT_EQ(t.id("none"), -1);
  EXPECT_EQ(t.token(2), "##done");
  EXPECT_EQ(t.vocabulary_size(), 7);
}

TEST(Tokenizer, RefusesTextThatIsNoUtf8) {
  const Tokenizer t = Tokenizer::parse(kWhole);
  for (const char* bad : {"un\xff", "un\xc3", "un\xed\xa0\x80", "un\xc0\xaf", "un\xf4\x90\x80\x80", "un\x80"}) {
    try {
      t.encode(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_SAYS(std::string(e.what()), "byte 2");
    }
  }
}

TEST(Tokenizer, NamesWhatIsWrongInAFile) {
  EXPECT_SAYS(refusal("{", ErrorKind::invalid_model), "is no JSON");
  EXPECT_SAYS(refusal("[]", ErrorKind::invalid_model), "an object was expected");
  EXPECT_SAYS(refusal("{}", ErrorKind::invalid_model), "'model' is missing");
  EXPECT_SAYS(refusal(R"({"model": {"type": "Byte"}})", ErrorKind::unsupported), "model: the type 'Byte' is not supported");
  EXPECT_SAYS(refusal(R"({"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"a": 0}}})", ErrorKind::invalid_model), "'?'");
  EXPECT_SAYS(refusal(R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0, "b": 0}}})", ErrorKind::invalid_model),
              "stands there twice");
  EXPECT_SAYS(refusal(R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": -1}}})", ErrorKind::invalid_model), "'a'");
  EXPECT_SAYS(refusal("{" + kModel + R"(, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFX"}]}})", ErrorKind::unsupported),
              "normalizer.normalizers[0]: the type 'NFX'");
  EXPECT_SAYS(refusal("{" + kModel + R"(, "truncation": {"max_length": 0}})", ErrorKind::invalid_model), "truncation.max_length");
  EXPECT_SAYS(refusal("{" + kModel + R"(, "added_tokens": [{"id": -1, "content": "x"}]})", ErrorKind::invalid_model), "id");
  std::string deep = R"({"type": "Lowercase"})";
  for (int i = 0; i < 20000; ++i) deep = R"({"type": "Sequence", "normalizers": [)" + deep + "]}";
  EXPECT_SAYS(refusal("{" + kModel + R"(, "normalizer": )" + deep + "}", ErrorKind::invalid_model), "more than 128 lists and objects");
  try {
    Tokenizer::load("/nowhere/at/all");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
  }
}

// A model of BPE with these merges, its tokens being a, b, ab, aab and <unk>.
std::string bpe(const std::string& merges, const std::string& more = "") {
  return R"({"model": {"type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "aab": 4}, "merges": )" +
         merges + more + "}}";
}

TEST(Bpe, MergesByRank) {
  EXPECT_EQ(Tokenizer::parse(bpe(R"(["a b", ["a", "ab"]])")).encode("aabxyb").ids, (Ids{4, 0, 0, 2}));
  EXPECT_EQ(Tokenizer::parse(bpe(R"(["a b"])", R"(, "fuse_unk": true)")).encode("aabxyb").ids, (Ids{1, 3, 0, 2}));
}

TEST(Bpe, RefusesWrongMerges) {
  EXPECT_SAYS(refusal(bpe(R"(["a"])"), ErrorKind::invalid_model), "model.merges[0]: two tokens were expected");
  EXPECT_SAYS(refusal(bpe(R"(["a b", "b a"])"), ErrorKind::invalid_model), "model.merges[1]: the vocabulary lacks 'ba'");
  EXPECT_SAYS(refusal(bpe(R"([["a", 1]])"), ErrorKind::invalid_model), "model.merges[0]");
  // A merge that gives one of its parts again shortens a word, too.
  const std::string cyclic = bpe(R"(["a b"])", R"(, "continuing_subword_prefix": "b")");
  EXPECT_EQ(Tokenizer::parse(cyclic).encode("a").ids, (Ids{1}));
}

TEST(Bpe, MergesALongWordInTime) {
  const Tokenizer t = Tokenizer::parse(bpe(R"(["a b", "a ab"])"));
  std::string text;
  while (text.size() < 1'000'000) text += "aab";
  const Encoding e = t.encode(text);
  EXPECT_EQ(e.size(), text.size() / 3);
  EXPECT_EQ(e.ids.back(), 4);
}

TEST(Pattern, ThatExplodesIsAnError) {
  const Tokenizer t = Tokenizer::parse("{" + kModel + R"(, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern":
    {"Regex": "(?:(?:x+)+)+[yz]"}}})");
  EXPECT_EQ(t.encode("un").ids, (Ids{1}));
  try {
    t.encode(std::string(5000, 'x'));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_SAYS(std::string(e.what()), "(?:(?:x+)+)+[yz]");
  }
}

TEST(Pattern, NamesWhatItCannotTranslate) {
  const auto with = [](const std::string& regex) {
    return "{" + kModel + R"(, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": ")" + regex + R"("}}})";
  };
  EXPECT_SAYS(refusal(with("a[b[c]]"), ErrorKind::unsupported), "a set in a set at byte 3");
  EXPECT_SAYS(refusal(with(R"(\\p{Klingon})"), ErrorKind::unsupported), "the property 'Klingon'");
  EXPECT_SAYS(refusal(with("(a"), ErrorKind::invalid_model), "pre_tokenizer.pattern: the pattern cannot be used");
}

TEST(Charsmap, ThatIsDamagedIsRefusedOrLeadsNowhere) {
  const auto with = [](const std::string& map) {
    return "{" + kModel + R"(, "normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + map + R"("}})";
  };
  EXPECT_SAYS(refusal(with("AAA"), ErrorKind::invalid_model), "normalizer.precompiled_charsmap");
  EXPECT_SAYS(refusal(with("/////w=="), ErrorKind::invalid_model), "4294967295 bytes");
  EXPECT_SAYS(refusal(with("AAAAAP8="), ErrorKind::invalid_model), "no UTF-8");
  EXPECT_EQ(Tokenizer::parse(with("BAAAAAD8//8=")).encode("un").ids, (Ids{1}));   // one unit, which leads far outside
}

TEST(Tokenizer, ServesThreadsAtOnce) {
  const Tokenizer t = Tokenizer::parse(kWhole);
  const Encoding expected = t.encode("undone un \u00e9 .");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Encoding e;
      for (int k = 0; k < 1000; ++k) {
        t.encode_into("undone un \u00e9 .", e);
        EXPECT_EQ(e.ids, expected.ids);
      }
    });
  for (std::thread& one : threads) one.join();
}

TEST(Tokenizer, EncodesManyTextsOnSeveralThreads) {
  const Tokenizer t = Tokenizer::parse(kWhole);
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) texts.push_back(i % 3 ? "undone un ." : "x " + std::to_string(i));
  std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<Encoding> one = t.encode_batch(views, true, 1), four = t.encode_batch(views, true, 4);
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].ids, four[i].ids);
  views[7] = "a\xff", views[19000] = "ab\xff";
  try {
    t.encode_batch(views, true, 4);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_SAYS(std::string(e.what()), "byte 1");
  }
}

// What `act` is refused with; each text of a message must be one that every interface can show.
template <class Act>
std::string refused(ErrorKind kind, const Act& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "it was taken";
  return "";
}

std::string replaces(int count, const std::string& content) {
  std::string rules;
  for (int i = 0; i < count; ++i)
    rules += std::string(i ? "," : "") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" + content + "\"}";
  return rules;
}
std::string normalizing(const std::string& rules, const std::string& more = "") {
  return "{" + kModel + more + R"(, "normalizer": {"type": "Sequence", "normalizers": [)" + rules + "]}}";
}

// Nine rules that make ten characters of each: 10^10 of ten.
TEST(TokenizerBounds, ANormalizerMakesATextLongerByABound) {
  const Tokenizer t = Tokenizer::parse(normalizing(replaces(9, "aaaaaaaaaa")), "some.json");
  const std::string why = refused(ErrorKind::unsupported, [&] { t.encode("aaaaaaaaaa"); });
  EXPECT_SAYS(why, "the tokenizer 'some.json': normalizer.normalizers[");
  EXPECT_SAYS(why, "it makes more than 4736 characters of a text of 10");
  EXPECT_NO_THROW(t.encode("bbbb"));
  EXPECT_NO_THROW(Tokenizer::parse(normalizing(replaces(1, std::string(60, 'b')))).encode(std::string(1000, 'a')));
  const std::string one = "{" + kModel + R"(, "normalizer": )" + replaces(1, std::string(100'000, 'b')) + "}";
  EXPECT_SAYS(refused(ErrorKind::unsupported, [&] { Tokenizer::parse(one).encode("a"); }), "normalizer: it makes");
  const std::string before = "{" + kModel + R"(, "normalizer": {"type": "Prepend", "prepend": ")" + std::string(100'000, 'b') + "\"}}";
  EXPECT_SAYS(refused(ErrorKind::unsupported, [&] { Tokenizer::parse(before).encode("a"); }), "normalizer: it makes");
  // Tokens that are looked for in normalized text are normalized themselves.
  const std::string added = R"(, "added_tokens": [{"id": 9, "content": "aaaaa", "normalized": true}])";
  refusal(normalizing(replaces(9, "aaaaaaaaaa"), added), ErrorKind::unsupported);
}

TEST(TokenizerBounds, SoDoPreTokenizersAndDecoders) {
  std::string letters;
  for (int i = 0; i < 20; ++i)
    letters += std::string(i ? "," : "") + R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";
  const Tokenizer doubling =
      Tokenizer::parse("{" + kModel + R"(, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [)" + letters + "]}}");
  EXPECT_SAYS(refused(ErrorKind::unsupported, [&] { doubling.encode("\u00e9\u00e9\u00e9\u00e9"); }), "pre_tokenizer: it makes more than");
  const Tokenizer decoding = Tokenizer::parse(
      R"({"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1}}, "decoder": {"type": "Sequence", "decoders": [)" +
      replaces(9, "aaaaaaaaaa") + "]}}");
  EXPECT_SAYS(refused(ErrorKind::unsupported, [&] { decoding.decode(Ids{1, 1, 1}); }), "decoder.decoders[");
}

TEST(TokenizerBounds, TemplatesHaveABoundedNumberOfPlaces) {
  const auto with = [](int places) {
    std::string list;
    for (int i = 0; i < places; ++i) list += std::string(i ? "," : "") + R"({"Sequence": {"id": "A", "type_id": 0}})";
    return "{" + kModel + R"(, "post_processor": {"type": "TemplateProcessing", "single": [)" + list +
           R"(], "pair": [], "special_tokens": {}}})";
  };
  EXPECT_EQ(Tokenizer::parse(with(256)).encode("un").ids.size(), 256u);
  EXPECT_SAYS(refusal(with(257), ErrorKind::unsupported), "post_processor.single: it has more than 256 texts and tokens");
}

// JSON beyond the limits is refused before values are made of it; closed and open nesting alike.
TEST(TokenizerBounds, JsonIsBounded) {
  const std::string nested[] = {std::string(1 << 20, '['), std::string(200, '[') + std::string(200, ']'),
                                R"({"model":)" + std::string(130, '{')};
  for (const std::string& text : nested)
    EXPECT_SAYS(refusal(text, ErrorKind::invalid_model), "more than 128 lists and objects of JSON lie inside each other");
  std::string flat = "[[]";
  for (int i = 0; i < (1 << 23); ++i) flat += ",[]";
  EXPECT_SAYS(refusal(flat + "]", ErrorKind::invalid_model), "more than 8388608 values of JSON");
  EXPECT_SAYS(refusal(R"(["\\[[[[", "\"[", 1e999999])", ErrorKind::invalid_model), "tokenizer.json");
  const std::string brackets = "\"" + std::string(1000, '[') + "\"";   // a text of them is none
  EXPECT_SAYS(refusal(brackets, ErrorKind::invalid_model), "an object was expected");
}

// Escapes that a pattern ends in, and what only the standard library would refuse.
TEST(TokenizerBounds, PatternsThatEndEarlyAreRefused) {
  const auto with = [](const std::string& pattern) {
    return "{" + kModel + R"(, "normalizer": {"type": "Replace", "pattern": {"Regex": ")" + pattern + R"("}, "content": ""}})";
  };
  for (const char* pattern : {"[\\\\u", "\\\\u", "[\\\\u00", "\\\\u12g4", "[[:", "[[:]", "\\\\p", "\\\\p{", "(?", "{", "[", "\\\\",
                              "[^", "a{1", "(?#"}) {
    const std::string json = with(pattern);
    try {
      Tokenizer::parse(json).encode("some text");
    } catch (const Error&) {
    }   // anything else fails the test
  }
  EXPECT_SAYS(refusal(with("[\\\\u"), ErrorKind::unsupported), "which is not followed by four hexadecimal digits");
}

}  // namespace
}  // namespace tenfold
