#include "net/http_reader.h"

#include <gtest/gtest.h>

namespace tenfold::server {
namespace {

using Step = HttpReader::Step;

class Reader : public testing::Test {
 protected:
  Reader() { limits_.body_bytes = 1000, limits_.header_bytes = 500, limits_.headers = 5, limits_.chunks = 3; }
  // The steps that it makes of these bytes, `piece` of them at a time.
  std::vector<Step> steps(HttpReader& reader, const std::string& bytes, std::size_t piece) {
    std::vector<Step> made;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::string some = bytes.substr(at, piece);   // whose memory does not last
      reader.push(some);
      for (Step step = reader.next(); step != Step::more; step = reader.next()) {
        made.push_back(step);
        if (step == Step::whole) texts_.emplace_back(reader.take().text()), reader.begin();
        if (step == Step::refused || step == Step::overloaded) return made;
      }
      reader.keep();
    }
    return made;
  }
  int refusal(const std::string& bytes) {
    int status = 0;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
      HttpReader reader(limits_, nullptr);
      const std::vector<Step> made = steps(reader, bytes, piece);
      EXPECT_FALSE(made.empty()) << bytes;
      if (made.empty() || made.back() != Step::refused) return 0;
      EXPECT_TRUE(status == 0 || reader.refusal_status() == status) << piece << ": " << bytes;
      status = reader.refusal_status();
    }
    return status;
  }

  HttpLimits limits_;
  std::vector<std::string> texts_;
};

TEST_F(Reader, RequestsInAnyPieces) {
  const std::string bytes = "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\n\r\n"
                            "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    texts_.clear();
    HttpReader reader(limits_, nullptr);
    const std::vector three = {Step::head, Step::whole, Step::head, Step::whole, Step::head, Step::whole};
    EXPECT_EQ(steps(reader, bytes, piece), three) << piece;
    EXPECT_EQ(texts_, (std::vector<std::string>{"hello", "", "abcde"})) << piece;
    EXPECT_EQ(reader.unread(), 0u);
  }
}

TEST_F(Reader, Refusals) {
  EXPECT_EQ(refusal("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\n\r\n"), 411);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"), 413);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Encoding: br\r\n\r\nx"), 415);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"), 501);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\na: " + std::string(600, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\n\r\n"), 431);
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(refusal(chunked + "1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n"), 413);
  EXPECT_EQ(refusal(chunked + "5\r\nabcdeXY\r\n"), 400);
  EXPECT_EQ(refusal(chunked + "0\r\n!\r\n\r\n"), 400);   // behind the last chunk, in pieces, too
  EXPECT_EQ(refusal(chunked + "1;" + std::string(2000, 'x')), 400);
}

TEST_F(Reader, BytesInFlight) {
  const auto budget = std::make_shared<ByteBudget>(100);
  HttpRequest kept;
  {
    HttpReader reader(limits_, budget);
    reader.push("POST / HTTP/1.1\r\nContent-Length: 80\r\n\r\n");
    EXPECT_EQ(reader.next(), Step::head);
    EXPECT_EQ(budget->taken(), 0u) << "what a client says that it sends is not taken";
    const std::string body(80, 'x');
    reader.push(body);
    EXPECT_EQ(reader.next(), Step::whole);
    kept = reader.take();
  }
  EXPECT_EQ(budget->taken(), 80u);
  HttpReader other(limits_, budget);
  const std::string second = "POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\n" + std::string(30, 'y');
  other.push(second);
  EXPECT_EQ(other.next(), Step::head);
  EXPECT_EQ(other.next(), Step::overloaded);
  kept = {};
  EXPECT_EQ(budget->taken(), 0u);
}

}  // namespace
}  // namespace tenfold::server
