// The wire form: lists packed and not, fields that stand twice, what is not the standard's, and every kind of damage.
#include "onnx_import/wire.h"

#include <sys/mman.h>

#include "onnx_import/model_for_tests.h"
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_import {
namespace {

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void expect_damaged(const std::string& bytes, const std::string& part) {
  try {
    read_model(bytes_of(bytes));
    ADD_FAILURE() << "accepted, '" << part << "' expected";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.kind()), "invalid_model");
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Wire, ListsArePackedOrNot) {
  Writer packed, plain, both;
  packed.varints(1, std::vector<std::int64_t>{1, 300, -1}).floats(4, {1, 2.5});
  for (const std::int64_t d : {1, 300, -1}) plain.varint(1, static_cast<std::uint64_t>(d));
  plain.f32(4, 1).f32(4, 2.5);
  both.varint(1, 1).varints(1, std::vector<std::int64_t>{300}).varint(1, ~0ull).f32(4, 1).floats(4, {2.5});
  for (const Writer& writer : {packed, plain, both}) {
    const onnx::TensorProto tensor = read_tensor(bytes_of(writer.text()));
    EXPECT_EQ(tensor.dims, (std::vector<std::int64_t>{1, 300, -1}));
    EXPECT_EQ(tensor.float_data, (std::vector<float>{1, 2.5}));
  }
}

TEST(Wire, WhatStandsTwiceGoesOnOrIsReplaced) {
  onnx::GraphProto one, two;
  one.name = "one", two.name = "two";
  add_node(one, "A", {}, {"a"}), add_node(two, "B", {}, {"b"});
  const std::string bytes = Writer().bytes(7, serialized(one)).varint(1, 3).bytes(7, serialized(two)).varint(1, 4).text();
  const onnx::ModelProto model = read_model(bytes_of(bytes));
  EXPECT_EQ(model.ir_version, 4);
  EXPECT_EQ(model.graph->name, "two");
  ASSERT_EQ(model.graph->node.size(), 2u);
  EXPECT_EQ(model.graph->node[1].op_type, "B");
  onnx::TypeProto sequence;   // of two kinds of type the last one counts
  sequence.sequence_type.edit().tensor_type.emplace();
  onnx::ValueInfoProto info;
  info.type.tensor_type.emplace();
  const std::string value = serialized(info) + Writer().bytes(2, serialized(sequence)).text();
  const onnx::ModelProto typed = read_model(kept(Writer().bytes(7, Writer().bytes(11, value).text()).text()));
  EXPECT_FALSE(typed.graph->input[0].type.tensor_type);
  EXPECT_TRUE(typed.graph->input[0].type.sequence_type);
}

TEST(Wire, FieldsThatNobodyKnowsAreTold) {
  const std::string node = serialized(onnx::NodeProto()) + Writer().varint(30, 1).bytes(31, "x").varint(30, 2).text();
  const std::string bytes = serialized(small_model()) + Writer().bytes(7, Writer().bytes(1, node).text()).text();
  std::vector<std::string> unknown;
  read_model(bytes_of(bytes), &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"field 30 of NodeProto", "field 31 of NodeProto"}));
  std::string logged;
  const std::string model = serialized(small_model()) + Writer().varint(99, 7).text();
  import_bytes(bytes_of(model), {.log = Log([&](Severity severity, std::string_view text) { logged += cat(name(severity), ":", text); })});
  EXPECT_EQ(logged, "warning:the model has field 99 of ModelProto, which the ONNX known here does not define; it is ignored");
}

TEST(Wire, DamageIsNamedWithItsPlace) {
  expect_damaged("", "is empty, an ONNX model was expected");
  expect_damaged("\x08", "is not an ONNX model, or it is cut off or damaged: ModelProto, byte 1: a number is cut off");
  expect_damaged("\x08" + std::string(10, '\xff') + "\x01", "a number has more than 10 bytes");
  expect_damaged(std::string("\x00\x00", 2), "there is no field 0");
  expect_damaged("\x0b", "field 1 has the wire type 3");   // a group
  expect_damaged(std::string("\x0a\x00", 2), "field 1 has the wire type 2, expected 0");
  expect_damaged("\x3a\x05\x0a", "byte 2: field 7 has 5 bytes, but 1 are left");
  expect_damaged("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "bytes, but 0 are left");
  expect_damaged("\x3a\x03\x0a\x05\x0a", "GraphProto, byte 4: field 1 has 5 bytes, but 1 are left");   // more than what holds it
  expect_damaged(Writer().bytes(7, Writer().bytes(5, Writer().bytes(4, "12345").text()).text()).text(), "no multiple of 4");
}

TEST(Wire, NestingIsBounded) {
  std::string type = Writer().varint(1, 1).text();
  for (int level = 0; level < 60; ++level) type = Writer().bytes(4, Writer().bytes(1, type).text()).text();
  expect_damaged(Writer().bytes(7, Writer().bytes(11, Writer().bytes(2, type).text()).text()).text(), "nested more than 100 deep");
}

TEST(Wire, DataMayPassTwoGiB) {
  const std::size_t data = (std::size_t{1} << 31) + 100;
  const std::string head = Writer().varint(2, 2).text() + "\x4a\xe4\x80\x80\x80\x08";   // u8; raw_data of that many bytes
  void* const all = ::mmap(nullptr, head.size() + data, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) GTEST_SKIP() << "no address space for 2 GiB";
  std::memcpy(all, head.data(), head.size());
  const Bytes bytes(static_cast<const std::byte*>(all), head.size() + data);
  const onnx::TensorProto tensor = read_tensor(bytes);
  EXPECT_EQ(tensor.raw_data->size(), data);
  EXPECT_EQ(tensor.raw_data->data(), bytes.data() + head.size());
  EXPECT_THROW(read_tensor(bytes.first(bytes.size() - 1)), Error);
  ::munmap(all, head.size() + data);
}

}  // namespace
}  // namespace tenfold::onnx_import
