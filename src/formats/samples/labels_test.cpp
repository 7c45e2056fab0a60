// Labels in each of their forms, and lines that are none.
#include "formats/samples/labels.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

TEST(Labels, NumbersInOrder) {
  const Folder folder;
  const Labels labels(folder.write("l.txt", "\xEF\xBB\xBF# classes\n3\n\n 0 \r\n12"));
  EXPECT_EQ(labels.of(0, ""), 3);
  EXPECT_EQ(labels.of(1, "p/any.png"), 0);
  EXPECT_EQ(labels.of(2, ""), 12);
  EXPECT_EQ(labels.largest(), 12);
  EXPECT_TRUE(says(refusal([&] { labels.of(3, "p/x.png"); }), "has 3 labels, too few: sample 3 ('p/x.png') has none"));
}

TEST(Labels, FilesByNameWithAndWithoutTitles) {
  const Folder folder;
  for (const char* text : {"a b.png 3\nsub/c.png 4\n", "file,class\na b.png,3\nother/c.png, 4\n"}) {
    const Labels labels(folder.write("l.csv", text));
    EXPECT_EQ(labels.of(9, "p/c.png"), 4);
    EXPECT_EQ(labels.of(9, "a b.png"), 3);
    EXPECT_TRUE(says(refusal([&] { labels.of(0, "d.png"); }), "does not name 'd.png'"));
    EXPECT_TRUE(says(refusal([&] { labels.of(0, ""); }), "names files, and the samples are arrays"));
  }
}

TEST(Labels, WrongLinesAreNamed) {
  const Folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"1\n-2\n", "--labels: line 2 of '"},
      {"1\n-2\n", "has no class, which is a whole number from 0 on: '-2'"},
      {"1\n2.5\n", "'2.5'"},
      {"1\n99999999999999999999\n", "has no class"},
      {"a.png 1\n2\n", "line 2 of"},
      {"1\na.png 2\n", "is of another form than those before it: 'a.png 2'"},
      {"a.png 1\nb/a.png 2\n", "gives its file another class than before"},
      {"# nothing\n", "no labels in"},
  };
  for (const auto& [text, words] : cases)
    EXPECT_TRUE(says(refusal([&, text = text] { Labels(folder.write("l.txt", text), "--labels"); }), words)) << text;
}

}  // namespace
}  // namespace tenfold::formats
