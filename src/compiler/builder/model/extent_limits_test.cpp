// Dynamic dimensions that a model does not serve at every extent, as exporters leave them.
#include "builder/model/extent_limits.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace tenfold::builder {
namespace {

std::vector<ExtentLimit> limits(const char* text) { return extent_limits(ir::parse_graph(text, ir::Registry::builtin(), {})); }

TEST(ExtentLimits, AnExtentThatTheExporterWroteDown) {
  const std::vector<ExtentLimit> found = limits("(x f32[1,seq,64])\n s = i64[3]{12,4,16}\n heads = Reshape(x, s)\n y = Relu(heads)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].input, "x");
  EXPECT_EQ(found[0].dimension, "seq");
  EXPECT_EQ(found[0].fits, std::vector<std::int64_t>{12}) << found[0].text();
  EXPECT_NE(found[0].why.find("(Reshape): cannot reshape [1,1,64] to [12,4,16]"), std::string::npos) << found[0].why;
  EXPECT_NE(found[0].text().find("only 12 fits"), std::string::npos) << found[0].text();
}

TEST(ExtentLimits, AboveThoseThatAreTriedOneByOne) {
  const auto found = limits("(x f32[1,seq,64])\n s = i64[3]{384,4,16}\n y = Reshape(x, s)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fits, std::vector<std::int64_t>{384});
}

// The number is batch times sequence.
TEST(ExtentLimits, ProductsOfTwo) {
  const auto found = limits("(x f32[batch,seq,64])\n s = i64[3]{12,4,16}\n y = Reshape(x, s)");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].dimension, "seq");
  EXPECT_EQ(found[1].fits, std::vector<std::int64_t>{12});
}

// As a U-Net of one level: what was halved and doubled is joined with what was not.
TEST(ExtentLimits, Multiples) {
  const auto found = limits(
      "(x f32[1,1,z])\n scales = f32[3]{1,1,2}\n half = MaxPool(x) kernel_shape=[2] strides=[2]\n up = Resize(half, _, scales)\n"
      " y = Concat(up, x) axis=1");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fits.size(), 32u);
  EXPECT_NE(found[0].text().find("multiples of 2 fit; 1 does not"), std::string::npos) << found[0].text();
}

TEST(ExtentLimits, NoneWhereEveryExtentWorks) {
  for (const char* text : {"(x f32[n,6], w f32[6,4])\n t = MatMul(x, w)\n y = Softmax(t)", "(x f32[n,m], z f32[n,m])\n y = Add(x, z)",
                           "(x f32[2,6])\n y = Relu(x)", "(x f32[n,6])\n s = i64[2]{-1,3}\n y = Reshape(x, s)"})
    for (const ExtentLimit& limit : limits(text)) ADD_FAILURE() << text << ": " << limit.text();
}

}  // namespace
}  // namespace tenfold::builder
