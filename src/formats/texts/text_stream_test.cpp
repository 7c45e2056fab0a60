// Texts of lines, JSON lines and columns of tables.
#include "formats/texts/text_stream.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

std::vector<std::string> texts_of(const std::string& path, const std::string& column = "") {
  const TextStream next = open_texts(path, column, "--column");
  std::vector<std::string> all;
  for (std::string text; next(text);) all.push_back(text);
  return all;
}

TEST(TextStream, LinesAsTheyAre) {
  const Folder folder;
  EXPECT_EQ(texts_of(folder.write("a.txt", "one\r\n\ntwo,\"x\nlast")), (std::vector<std::string>{"one", "", "two,\"x", "last"}));
  const std::string longer(200000, 'x');   // than what is read at a time
  EXPECT_EQ(texts_of(folder.write("b.txt", longer + "\nend\n")), (std::vector<std::string>{longer, "end"}));
  EXPECT_TRUE(texts_of(folder.write("c.txt", "")).empty());
}

TEST(TextStream, JsonLines) {
  const Folder folder;
  EXPECT_EQ(texts_of(folder.write("a.jsonl", "{\"text\": \"gr\\u00fc\\u00dfe\"}\n\n\"alone\"\n")),
            (std::vector<std::string>{"grüße", "alone"}));
  EXPECT_EQ(texts_of(folder.write("b.ndjson", "{\"body\": \"b\", \"text\": 3}\n"), "body"), std::vector<std::string>{"b"});
  const auto refused = [&](const std::string& line) {
    const std::string path = folder.write("w.jsonl", "\"fine\"\n" + line + "\n");
    return refusal([&] { texts_of(path); });
  };
  for (const std::string line : {"{\"text\": 3}", "{\"other\": \"x\"}", "[\"x\"]", "{\"text\": \"", "nothing"})
    EXPECT_TRUE(says(refused(line), "w.jsonl': line 2 is neither a JSON string nor an object with a string 'text'; --column names it"));
  EXPECT_TRUE(says(refused(std::string(200, '[') + std::string(200, ']')), "or more than 128 inside each other"));
}

TEST(TextStream, ColumnsByTitleAndByNumber) {
  const Folder folder;
  const std::string table = folder.write("a.csv", "id,body\n1,\"x,\ny\"\n2,z\n");
  EXPECT_EQ(texts_of(table, "body"), (std::vector<std::string>{"x,\ny", "z"}));
  EXPECT_EQ(texts_of(table, "1"), (std::vector<std::string>{"body", "x,\ny", "z"}));   // no title, so the first record is a text
  EXPECT_EQ(texts_of(folder.write("a.tsv", "a\tb\n1\t2\n"), "b"), std::vector<std::string>{"2"});
}

TEST(TextStream, TablesThatAreWrong) {
  const Folder folder;
  const std::string table = folder.write("a.csv", "id,body\n1,x\n2\n");
  EXPECT_TRUE(says(refusal([&] { texts_of(table, "none"); }), "line 1 has no column 'none'"));
  EXPECT_TRUE(says(refusal([&] { texts_of(table, "2"); }), "line 1 has no column '2'"));
  EXPECT_TRUE(says(refusal([&] { texts_of(table, "-1"); }), "line 1 has no column '-1'"));
  EXPECT_TRUE(says(refusal([&] { texts_of(table, "body"); }), "line 3 has 1 fields, and column 1 is asked for"));
  EXPECT_TRUE(says(refusal([&] { texts_of(folder.write("q.csv", "a,\"b\nc"), "0"); }), "line 2 ends inside a quote"));
  const auto misused = [](auto run) { return refusal(run, ErrorKind::invalid_argument); };
  EXPECT_TRUE(says(misused([&] { texts_of(table); }), "--column=NAME is missing: which column of"));
  EXPECT_TRUE(says(misused([&] { texts_of(folder.write("a.txt", "x"), "body"); }), "--column is for .csv, .tsv and .jsonl files"));
  EXPECT_TRUE(says(refusal([&] { texts_of(folder / "none.txt"); }), "cannot read"));
}

}  // namespace
}  // namespace tenfold::formats
