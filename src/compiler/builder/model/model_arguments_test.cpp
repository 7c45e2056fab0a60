// What a file declares: names of dims as they stand, missing shapes, defaults by IR version. The bytes are written by hand.
#include "tenfold/internal/model_arguments.h"

#include <gtest/gtest.h>

#include "tenfold/error.h"

namespace tenfold {
namespace {

std::string field(int number, const std::string& text) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
}
std::string integer(int number, int value) { return {static_cast<char>(number << 3), static_cast<char>(value)}; }

std::string tensor(const std::string& dims) { return field(1, integer(1, 1) + dims); }
std::string value(const std::string& name, const std::string& type) { return field(1, name) + field(2, type); }
std::string shape(const std::string& dims) { return field(2, dims); }

std::string model(int version) {
  return integer(1, version) +
         field(7, field(5, field(8, "w") + integer(14, 1)) + field(5, field(8, "c")) +
                      field(11, value("x", tensor(shape(field(1, integer(1, 2)) + field(1, field(2, "past + 1")) + field(1, ""))))) +
                      field(11, value("w", tensor(shape("")))) + field(11, value("any", tensor(""))) +
                      field(12, value("y", field(4, field(1, field(1, integer(1, 7)))))));
}

ModelArguments read(const std::string& text) { return model_arguments(std::as_bytes(std::span(text))); }

TEST(ModelArguments, AreWhatTheFileDeclares) {
  const ModelArguments m = read(model(8));
  ASSERT_EQ(m.inputs.size(), 2U);
  EXPECT_EQ(m.inputs[0].type, "tensor(f32)");
  EXPECT_EQ(m.inputs[0].shape, (Shape{2, -1, -1}));
  EXPECT_EQ(m.inputs[0].names, (std::vector<std::string>{"", "past + 1", ""}));
  EXPECT_TRUE(m.inputs[0].ranked);
  EXPECT_EQ(m.inputs[1].name, "any");
  EXPECT_FALSE(m.inputs[1].ranked);
  ASSERT_EQ(m.outputs.size(), 1U);
  EXPECT_EQ(m.outputs[0].type, "seq(tensor(i64))");
  EXPECT_EQ(m.initializers, (std::vector<std::string>{"w", "c"}));
  EXPECT_EQ(m.external, std::vector<std::string>{"w"});
}

TEST(ModelArguments, InitializersAreDefaultsFromTheFourthVersionOn) {
  ASSERT_EQ(read(model(4)).overridable.size(), 1U);
  EXPECT_EQ(read(model(4)).overridable[0].name, "w");
  EXPECT_TRUE(read(model(3)).overridable.empty());
}

TEST(ModelArguments, RefuseWhatIsNoModel) {
  for (const std::string& text : {std::string(), std::string("no model"), model(8).substr(0, 20), integer(1, 8)}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenfold
