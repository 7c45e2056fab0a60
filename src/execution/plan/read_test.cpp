// A plan survives its file unchanged; every truncation and every flipped bit is refused; weights load in each mode.
#include "plan/read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "base/files/file.h"
#include "plan/format.h"
#include "plan/inspect.h"
#include "plan/sample_plan_for_tests.h"
#include "plan/weights.h"
#include "plan/write.h"

namespace tenfold::plan {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string refusal(const std::string& bytes, const ReadOptions& options = {}) {
  try {
    load(bytes_of(bytes), options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    return e.what();
  }
  return "";
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) { std::memcpy(bytes.data() + at, &value, sizeof value); }

constexpr int kSections = 5;   // of sample_plan()

// Makes the header's checksum right again after a change: what an enemy would do.
void sign(std::string& bytes, int sections) {
  std::string covered = bytes.substr(0, 24) + bytes.substr(kHeaderBytes, kTableEntryBytes * static_cast<std::size_t>(sections));
  put(bytes, 24, hash64(covered));
}

TEST(PlanFile, RoundTrip) {
  const Plan plan = sample_plan();
  const std::string bytes = serialize(plan);
  const Plan back = load(bytes_of(bytes));
  EXPECT_EQ(serialize(back), bytes);
  EXPECT_EQ(serialize(sample_plan()), bytes);
  // The writer and the reader could agree on forgetting a field: some of each structure, by hand.
  EXPECT_EQ(back.device.name, "a machine");
  EXPECT_EQ(back.needs, plan.needs);
  EXPECT_EQ(back.portable, "graph as text");
  EXPECT_EQ(back.built.model_hash, "12:ab");
  EXPECT_EQ(back.built.options, "fp16=0");
  ASSERT_EQ(back.built.clocks.size(), 1u);
  EXPECT_EQ(back.built.clocks[0].of, "processor");
  EXPECT_EQ(back.built.clocks[0].khz, 3'000'000);
  ASSERT_EQ(back.weights_bytes, 128);
  EXPECT_EQ(std::memcmp(back.weights, plan.weights, 128), 0);
  EXPECT_EQ(back.constants[1].hash, plan.constants[1].hash);
  const Program& g = back.programs.at(0);
  EXPECT_EQ(g.box[0].opt, 4);
  EXPECT_EQ(g.symbols[0].upper, ir::Dim(8));
  EXPECT_EQ(g.dims, plan.programs[0].dims);
  EXPECT_EQ(g.steps[0].body, plan.programs[0].steps[0].body);
  EXPECT_EQ(g.steps[0].config, (std::vector<std::int64_t>{16, -1}));
  EXPECT_EQ(g.steps[0].in[1].at.space, Space::weights);
  EXPECT_TRUE(g.steps[0].in[1].packed);
  EXPECT_EQ(g.steps[2].programs[1].steps[0].name, "body/Identity");
  EXPECT_EQ(g.steps[2].workspace_bytes, 256);
  EXPECT_EQ(g.segments[0].count, 3);
}

TEST(PlanFile, KeepsEveryKindOfAttribute) {
  Plan plan = sample_plan();
  Tensor tensor(DType::i4, {3});
  tensor.mutable_data<std::uint8_t>()[0] = 0x5a;
  plan.programs[0].steps[1].attributes = {{"i", 5}, {"f", 0.1f}, {"s", "text"}, {"is", ir::Ints{1, -2}}, {"fs", ir::Floats{1.5f}},
                                          {"ss", ir::Strings{"a", ""}}, {"t", tensor}, {"st", Tensor::strings({2}, {"x", "y"})}};
  const Plan back = load(bytes_of(serialize(plan)));
  EXPECT_TRUE(ir::equal(back.programs[0].steps[1].attributes, plan.programs[0].steps[1].attributes));
}

TEST(PlanFile, RefusesEveryTruncation) {
  const std::string bytes = serialize(sample_plan());
  for (std::size_t size = 0; size < bytes.size(); ++size) ASSERT_NE(refusal(bytes.substr(0, size)), "") << size;
  EXPECT_NE(refusal(bytes + '\0'), "");
}

TEST(PlanFile, RefusesEveryFlippedBit) {
  std::string bytes = serialize(sample_plan());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
      ASSERT_NE(refusal(bytes), "") << "byte " << at << " bit " << bit;
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
    }
  ASSERT_EQ(refusal(bytes), "");
}

TEST(PlanFile, WeightsChecksumIsOptional) {
  std::string bytes = serialize(sample_plan());
  bytes[kWeightsAlignment + 5] ^= 1;
  EXPECT_NE(refusal(bytes), "");
  EXPECT_EQ(refusal(bytes, {.verify_weights = false}), "");
}

TEST(PlanFile, NamesBothVersions) {
  std::string bytes = serialize(sample_plan());
  put(bytes, 8, kFormatVersion + 7);
  sign(bytes, kSections);
  const std::string message = refusal(bytes);
  EXPECT_NE(message.find(std::to_string(kFormatVersion + 7)), std::string::npos);
  EXPECT_NE(message.find("version " + std::to_string(kFormatVersion) + ":"), std::string::npos);
  EXPECT_NE(refusal("a text file").find("not a Tenfold plan"), std::string::npos);
  EXPECT_NE(refusal("ftrt, and more").find("an engine of TensorRT, which cannot be loaded"), std::string::npos);
  EXPECT_NE(refusal("\x08\x0a, and more").find("it looks like an ONNX model"), std::string::npos);
}

PlanVersion version_of(const std::string& bytes) {
  const std::string path = testing::TempDir() + "version_" + std::to_string(getpid()) + ".plan";
  write_file(path, bytes);
  return read_version(path);
}

TEST(PlanFile, OfAnyVersionSaysWhoBuiltIt) {
  std::string bytes = serialize(sample_plan());
  EXPECT_EQ(version_of(bytes).format, kFormatVersion);
  EXPECT_EQ(version_of(bytes).builder, "tenfold test");
  put(bytes, 8, kFormatVersion + 7);
  put(bytes, kHeaderBytes + 4, std::uint32_t{kOptional});   // metadata that this version could not even read
  sign(bytes, kSections);
  const PlanVersion other = version_of(bytes);
  EXPECT_EQ(other.format, kFormatVersion + 7);
  EXPECT_EQ(other.reads, kFormatVersion);
  EXPECT_EQ(other.builder, "tenfold test");
  std::string older = serialize(sample_plan());
  put(older, kHeaderBytes + 3 * kTableEntryBytes, std::uint32_t{77});
  sign(older, kSections);
  EXPECT_EQ(version_of(older).builder, "") << "it does not say";
  std::string damaged = serialize(sample_plan());
  damaged[damaged.find("tenfold test", kWeightsAlignment)] ^= 1;   // behind the metadata and the weights
  EXPECT_THROW(version_of(damaged), Error);
  EXPECT_THROW(version_of("a text file"), Error);
}

TEST(PlanFile, IsShownUnopenedAndRefusedWhereItsStepsReferToNothing) {
  Plan plan = sample_plan();
  const PlanFileInspection shown = inspect_unopened(plan);
  EXPECT_EQ(shown.plan.programs.at(0).steps.size(), 5u);
  EXPECT_EQ(shown.text[2], inspect_text(plan, 1));
  EXPECT_EQ(shown.text[0], inspect_text(plan, -1));
  EXPECT_EQ(shown.plan.plugin_operators, std::vector<std::string>{});
  plan.programs[0].steps[1].op = "com.example.Snake";
  plan.programs[0].steps[2].programs[1].steps[0].op = "com.example.Nested";
  EXPECT_EQ(inspect_unopened(plan).plan.plugin_operators, (std::vector<std::string>{"com.example.Nested", "com.example.Snake"}));
  plan.programs[0].steps[0].out[0].dims[0] = 1000;
  EXPECT_THROW(inspect_unopened(plan), Error);
}

TEST(PlanFile, SkipsOptionalSectionsItDoesNotKnow) {
  std::string bytes = serialize(sample_plan());
  const std::size_t entry = kHeaderBytes + 2 * kTableEntryBytes;   // the portable section
  put(bytes, entry, std::uint32_t{77});
  sign(bytes, kSections);
  EXPECT_EQ(load(bytes_of(bytes)).portable, "");
  put(bytes, entry + 4, std::uint32_t{0});                         // no longer optional
  sign(bytes, kSections);
  EXPECT_NE(refusal(bytes).find("section 77"), std::string::npos);
  put(bytes, entry, std::uint32_t{1});                             // the metadata twice
  sign(bytes, kSections);
  EXPECT_NE(refusal(bytes).find("twice"), std::string::npos);
}

TEST(PlanFile, ThoseOfBeforeSayNothingOfTheirBuild) {
  std::string bytes = serialize(sample_plan());
  const std::size_t entry = kHeaderBytes + 4 * kTableEntryBytes;
  std::uint32_t id = 0;
  std::memcpy(&id, bytes.data() + entry, sizeof id);
  ASSERT_EQ(id, static_cast<std::uint32_t>(SectionId::built));
  put(bytes, entry, std::uint32_t{77});   // which no reader knows, as older ones do not know it
  sign(bytes, kSections);
  const Plan old = load(bytes_of(bytes));
  EXPECT_TRUE(old.built.model_hash.empty() && old.built.options.empty() && old.built.clocks.empty());
  EXPECT_EQ(old.portable, "graph as text");
}

TEST(PlanFile, RefusesSectionsOutOfPlace) {
  const std::string good = serialize(sample_plan());
  const std::size_t offset = kHeaderBytes + kTableEntryBytes + 8;   // of the weights
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{5}, ~std::uint64_t{0}, std::uint64_t{8192}})
    for (std::size_t field : {offset, offset + 8}) {
      std::string bytes = good;
      put(bytes, field, value);
      sign(bytes, kSections);
      EXPECT_NE(refusal(bytes), "") << value;
    }
}

// Random damage to metadata that carries a right checksum: anything but a crash, a hang or a huge allocation.
TEST(PlanFile, DamagedMetadataIsRefusedOrHarmless) {
  const std::string bytes = serialize(sample_plan());
  std::uint64_t at = 0, size = 0;
  std::memcpy(&at, bytes.data() + kHeaderBytes + 8, 8);
  std::memcpy(&size, bytes.data() + kHeaderBytes + 16, 8);
  const std::string metadata = bytes.substr(at, size);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string changed = metadata;
    for (int k = 0; k <= i % 3; ++k) changed[random() % changed.size()] = static_cast<char>(i % 5 ? random() : 0xff);
    try {
      read_metadata(bytes_of(changed));
    } catch (const Error& e) {
      ++refused;
      ASSERT_TRUE(e.kind() == ErrorKind::plan_refused || e.kind() == ErrorKind::out_of_memory) << e.what();
    }
  }
  EXPECT_GT(refused, 2000);
  for (std::size_t end = 0; end < metadata.size(); ++end) EXPECT_THROW(read_metadata(bytes_of(metadata.substr(0, end))), Error);
}

TEST(PlanFile, SavesAndLoadsInEveryMode) {
  const std::string path = testing::TempDir() + "sample_" + std::to_string(getpid()) + ".plan";
  save(sample_plan(), path);
  EXPECT_EQ(read_file(path), serialize(sample_plan()));
  for (WeightsMode mode : {WeightsMode::automatic, WeightsMode::map, WeightsMode::copy, WeightsMode::lock}) {
    const Plan plan = load(path, {.weights = mode});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan.weights) % kConstantAlignment, 0u);
    EXPECT_EQ(std::memcmp(plan.weights, sample_plan().weights, 128), 0);
  }
  const Plan mapped = load(path, {.weights = WeightsMode::map});
  std::filesystem::remove(path);
  EXPECT_EQ(reinterpret_cast<const float*>(mapped.weights)[3], 4.0f);   // the mapping outlives the name
  EXPECT_THROW(load(path), Error);
}

// Pages of this process that are mapped to memory, of those that hold the bytes.
std::size_t pages_present(const void* from, std::size_t bytes) {
  std::vector<std::uint64_t> entries(bytes / 4096);
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(from) / 4096 * 8);
  EXPECT_EQ(::pread(map, entries.data(), entries.size() * 8, at), static_cast<ssize_t>(entries.size() * 8));
  ::close(map);
  return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [](std::uint64_t e) { return e >> 63; }));
}

// Saves a plan with `bytes` of weights that are all different.
std::string save_large(std::string kind, std::size_t bytes, std::vector<std::uint32_t>& weights) {
  const std::string path = testing::TempDir() + "large_" + std::to_string(getpid()) + ".plan";
  weights.resize(bytes / 4);
  std::iota(weights.begin() + 32, weights.end(), 0u);
  std::memcpy(weights.data(), sample_plan().weights, 128);
  Plan large = sample_plan();
  large.device.kind = std::move(kind);
  large.weights = reinterpret_cast<const std::byte*>(weights.data());
  large.weights_bytes = static_cast<std::int64_t>(bytes);
  save(large, path);
  return path;
}

bool holds(const Plan& plan, const std::vector<std::uint32_t>& weights) {
  const std::size_t bytes = weights.size() * sizeof(std::uint32_t);
  return plan.weights_bytes == static_cast<std::int64_t>(bytes) && std::memcmp(plan.weights, weights.data(), bytes) == 0;
}

// Of a plan of any size, for any device: only who asks for it maps the file.
TEST(PlanFile, WhoeverWritesOverAFileDoesNotReachPlansOfIt) {
  for (const std::string kind : {"cpu", "cuda"})
    for (const std::size_t bytes : {std::size_t{1} << 16, (std::size_t{17} << 20) + 4096 + 64}) {   // no whole number of pieces
      std::vector<std::uint32_t> weights;
      const std::string path = save_large(kind, bytes, weights);
      const Plan usual = load(path), copied = load(path, {.weights = WeightsMode::copy});
      std::ofstream(path, std::ios::in | std::ios::binary) << std::string(bytes, 'x');   // as `cp` does
      std::filesystem::resize_file(path, 100);
      EXPECT_TRUE(holds(usual, weights) && holds(copied, weights)) << kind << ", " << bytes;
      EXPECT_THROW(load(path), Error);
      std::filesystem::remove(path);
    }
}

TEST(PlanFile, NoMemoryForWeightsIsAnError) {
  const std::byte here{};
  const std::span<const std::byte> huge(&here, std::size_t{1} << 60);   // none of it is read
  const std::shared_ptr<const void> file(&here, [](const void*) {});
  Plan plan = sample_plan();
  plan.device.kind = "cpu";
  place_weights(plan, huge, file, WeightsMode::map, false);
  EXPECT_EQ(plan.weights, &here);
  EXPECT_THROW(place_weights(plan, huge, file, WeightsMode::copy, false), Error);
  EXPECT_THROW(place_weights(plan, huge, nullptr, WeightsMode::automatic, false), Error);
}

TEST(PlanFile, TouchedWeightsAreMapped) {
  std::vector<std::uint32_t> weights;
  const std::size_t bytes = 16 << 20;
  const std::string path = save_large("cpu", bytes, weights);
  const Plan plan = load(path, {.verify_weights = false, .weights = WeightsMode::map});
  std::filesystem::remove(path);
  EXPECT_LT(pages_present(plan.weights, bytes), bytes / 4096);
  touch_weights(plan);
  EXPECT_EQ(pages_present(plan.weights, bytes), bytes / 4096);
}

TEST(PlanFile, RefusesToStoreADimensionThatCannotBeRead) {
  Plan plan = sample_plan();
  plan.programs[0].dims.push_back(ir::Dim::symbol("two words"));
  EXPECT_THROW(serialize(plan), Error);
}

// A name of one byte that is no character, written in the place of one that is.
std::string renamed(const Plan& plan, const std::string& from, const std::string& to) {
  std::string bytes = serialize(plan);
  std::uint64_t at = 0, size = 0;
  std::memcpy(&at, bytes.data() + kHeaderBytes + 8, 8);
  std::memcpy(&size, bytes.data() + kHeaderBytes + 16, 8);
  std::string metadata = bytes.substr(at, size);
  const std::size_t place = metadata.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return metadata.replace(place, to.size(), to);
}

TEST(PlanFile, NamesAreUtf8AndValuesAnyBytes) {
  Plan plan = sample_plan();
  const std::string raw = "\xff\x80raw";
  plan.programs[0].steps[1].attributes = {{"s", raw}, {"ss", ir::Strings{raw, ""}}, {"st", Tensor::strings({2}, {raw, "y"})}};
  const Plan back = load(bytes_of(serialize(plan)));
  EXPECT_TRUE(ir::equal(back.programs[0].steps[1].attributes, plan.programs[0].steps[1].attributes));
  for (const std::string& name : {plan.bindings[0].name, plan.programs[0].steps[0].name, plan.programs[0].box[0].symbol}) {
    try {
      read_metadata(bytes_of(renamed(sample_plan(), name, "\xff")));
      ADD_FAILURE() << "a plan without '" << name << "' was read";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("\\xff"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("is no UTF-8"), std::string::npos) << e.what();
    }
  }
  plan.bindings[0].name = "\xff";
  EXPECT_THROW(serialize(plan), Error);
}

}  // namespace
}  // namespace tenfold::plan
