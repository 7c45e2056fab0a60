// Declared attributes: the form of a declaration, and that every operator refuses an attribute that it does not have or of another type.
#include "ir/attribute_types.h"

#include <gtest/gtest.h>

#include "ops/cases.h"

namespace tenfold::ops {
namespace {

using namespace ir;

// One value of each type, in the order of the variant.
const std::vector<Attribute>& samples() {
  static const std::vector<Attribute> all = {std::int64_t{1}, 1.0f,          std::string("a"),      Ints{1},
                                             Floats{1},       Strings{"a"}, Tensor(DType::f32, {})};
  return all;
}

TEST(AttributeTypes, ReadADeclaration) {
  const AttributeTypes types("axis: int, scales: floats, value: tensor");
  EXPECT_EQ(name_of(*types.find("axis")), "int");
  EXPECT_EQ(name_of(*types.find("scales")), "floats");
  EXPECT_EQ(name_of(*types.find("value")), "tensor");
  EXPECT_EQ(types.find("axes"), nullptr);
  EXPECT_EQ(AttributeTypes("").begin(), AttributeTypes("").end());
  for (const char* wrong : {"axis", "axis: integer", ": int", "axis: int,", "axis int"})
    EXPECT_THROW(AttributeTypes{wrong}, Error) << wrong;
}

TEST(AttributeTypes, AreToldWithDefaultsInFront) {
  OpDef def{.name = "A", .attributes = {{"keepdims", 1}}, .optional_attributes = "axes: ints, end: int"};
  EXPECT_EQ(attributes_text(def), "keepdims=1; axes: ints, end: int");
}

void expect_refused(const OpDef& def, Case c, const std::string& attribute, const Attribute& value, const std::string& message) {
  c.attributes.set(attribute, value);
  try {
    case_graph(Registry::builtin(), def, c);
    ADD_FAILURE() << def.name << " takes " << attribute << '=' << text(value);
  } catch (const Fault& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what() << ", without " << message;
  }
}

// The first case of each operator with each of its attributes of each other type, and with one more.
TEST(AttributeTypes, WhatIsNotDeclaredIsRefusedByName) {
  int refused = 0;
  for (const OpDef* def : Registry::builtin().all()) {
    if (def->cases.empty()) continue;
    const Case c = parse_case(*def, def->cases.front());
    std::vector<std::pair<std::string, AttributeTypes::Kind>> declared(def->optional_attributes.begin(), def->optional_attributes.end());
    for (const auto& [name, value] : def->attributes) declared.emplace_back(name, value.index());
    for (const auto& [name, kind] : declared)
      for (const Attribute& value : samples()) {
        if (value.index() == kind) continue;
        const std::string found = cat("attribute '", name, "' is ", text_of(value.index()));
        expect_refused(*def, c, name, value, cat(found, ", ", text_of(kind), " was expected"));
        ++refused;
      }
    expect_refused(*def, c, "surprise", std::int64_t{1}, "no attribute 'surprise'");
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace tenfold::ops
