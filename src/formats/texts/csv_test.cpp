// Records of CSV, by RFC 4180.
#include "formats/texts/csv.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> fields_of(const std::string& text, char separator = ',') {
  std::vector<Fields> all;
  for (const CsvRecord& record : parse_csv(text, separator, "a.csv")) all.push_back(record.fields);
  return all;
}

TEST(Csv, FieldsQuotesAndLineEnds) {
  EXPECT_EQ(fields_of("a,b\n1,2\n"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(fields_of("a,b\r\n1,2"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(fields_of("\"x, y\",\"two\nlines\",\"a \"\"quote\"\"\"\n"), (std::vector<Fields>{{"x, y", "two\nlines", "a \"quote\""}}));
  EXPECT_EQ(fields_of(",\n\n\"\",x\n"), (std::vector<Fields>{{"", ""}, {"", "x"}}));   // lines without anything are none
  EXPECT_EQ(fields_of("a b\tc,d\n", '\t'), (std::vector<Fields>{{"a b", "c,d"}}));
  EXPECT_TRUE(fields_of("").empty());
}

TEST(Csv, RecordsKnowTheirLines) {
  const std::vector<CsvRecord> records = parse_csv("a\n\n\"b\nc\"\nd\n", ',', "a.csv");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].line, 3);
  EXPECT_EQ(records[2].line, 5);
}

TEST(Csv, AQuoteThatIsNotClosedIsNamedByItsLine) {
  EXPECT_TRUE(says(refusal([] { parse_csv("a\nb,\"c\nd\ne", ',', "a.csv"); }), "a.csv: the quote of line 2 is not closed"));
}

}  // namespace
}  // namespace tenfold::formats
