// Samples of a path: arrays cut along their first axis, photographs in order, and what is refused.
#include "formats/samples/samples.h"

#include "formats/arrays/npz.h"
#include "formats/formats_for_tests.h"
#include "formats/images/cases_for_tests.h"

namespace tenfold::formats {
namespace {

BindingInfo input(const std::string& name, Shape shape, DType type = DType::f32) {
  BindingInfo info;
  info.name = name, info.dtype = type, info.shape = std::move(shape);
  return info;
}

// 0, 1, 2 ... as doubles.
Tensor counted(Shape shape) {
  Tensor t(DType::f64, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<double>()[i] = static_cast<double>(i);
  return t;
}

// The shape and the first element of each sample, and the log.
struct Seen {
  std::vector<std::pair<Shape, double>> samples;
  std::vector<std::string> notes;
};
Seen look_at(const std::string& path, std::vector<BindingInfo> inputs, std::optional<ImageSpec> image = {}) {
  Seen seen;
  const std::string name = inputs.at(0).name;
  const std::unique_ptr<Samples> samples = open_samples({.path = path,
                                                         .image = std::move(image),
                                                         .inputs = std::move(inputs),
                                                         .max_samples = 100,
                                                         .log = [&](Severity, std::string_view text) { seen.notes.emplace_back(text); }});
  for (int i = 0; const std::optional<InputSet> one = samples->at(i); ++i)
    seen.samples.emplace_back(one->at(name).shape(), one->at(name).as_double(0));
  return seen;
}
using Rows = std::vector<std::pair<Shape, double>>;

TEST(Samples, ArraysAreCutAlongTheFirstAxis) {
  const Folder folder;
  const std::string six = folder.write("a/6.npy", to_npy(counted({6, 2})));
  EXPECT_EQ(look_at(six, {input("x", {1, 2})}).samples.size(), 6u);
  EXPECT_EQ(look_at(six, {input("x", {2, 2})}).samples, (Rows{{{2, 2}, 0}, {{2, 2}, 4}, {{2, 2}, 8}}));
  EXPECT_EQ(look_at(six, {input("x", {4, 2})}).samples, (Rows{{{4, 2}, 0}}));       // what is left is no batch
  EXPECT_EQ(look_at(six, {input("x", {-1, -1})}).samples.size(), 6u);
  EXPECT_EQ(look_at(six, {input("x", {2})}).samples[5], (std::pair<Shape, double>{{2}, 10}));
  EXPECT_EQ(look_at(six, {input("x", {1, 6, 2})}).samples, (Rows{{{1, 6, 2}, 0}}));
  EXPECT_EQ(look_at(six, {input("x", {1, 2})}).notes, std::vector<std::string>{six + ": float64 is converted to the model's f32"});
  EXPECT_TRUE(says(refusal([&] { look_at(six, {input("x", {1, 5})}); }), "is [6,2]; samples of the input 'x' are [1,5]"));
}

TEST(Samples, AFolderOfArraysInTheOrderOfNames) {
  const Folder folder;
  folder.write("b.npz", to_npz({{"x", counted({1, 3})}, {"y", counted({1})}, {"other", counted({7})}}));
  folder.write("a.npz", to_npz({{"x", counted({2, 3})}, {"y", counted({2})}}));
  folder.write(".hidden.npz", "nothing");
  folder.write("notes.txt", "nothing");
  const std::vector<BindingInfo> inputs = {input("x", {1, 3}), input("y", {1})};
  EXPECT_EQ(look_at(folder / "", inputs).samples, (Rows{{{1, 3}, 0}, {{1, 3}, 3}, {{1, 3}, 0}}));
  folder.write("c.npz", to_npz({{"x", counted({1, 3})}}));
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "", inputs); }), "c.npz has no array 'y', which is an input of the model"));
  folder.write("c.npz", to_npz({{"x", counted({1, 3})}, {"y", counted({2})}}));
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "", inputs); }), "c.npz['y'] has 2 samples, 'x' 1"));
  folder.write("c.npz", "PK");
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "", inputs); }), "c.npz: this is no .npz archive"));
  const std::string alone = folder.write("one/a.npy", to_npy(counted({1, 3})));
  EXPECT_TRUE(says(refusal([&] { look_at(alone, inputs); }), "holds one array, and the model has 2 inputs"));
}

TEST(Samples, EarlierSamplesAreFoundAgain) {
  const Folder folder;
  folder.write("a.npy", to_npy(counted({2, 1}))), folder.write("b.npy", to_npy(counted({3, 1})));
  const std::unique_ptr<Samples> samples = open_samples({.path = folder / "", .inputs = {input("x", {1, 1})}, .max_samples = 9});
  const auto value = [&](int i) { return samples->at(i).value().at("x").as_double(0); };
  EXPECT_EQ(value(4), 2);
  EXPECT_EQ(value(1), 1);
  EXPECT_EQ(value(2), 0);
  EXPECT_FALSE(samples->at(5));
  const InputSet joined = join_samples(*samples, 3, "joined");
  EXPECT_EQ(joined.at("x").shape(), (Shape{3, 1}));
  EXPECT_EQ(joined.at("x").as_double(1), 1);
}

TEST(Samples, PhotographsOfClassesTakeTurns) {
  const Folder folder;
  const auto level = [](int v) { return bytes_of(kPngs[v].file); };
  folder.write("p/n1/a.png", level(4)), folder.write("p/n1/b.png", level(5)), folder.write("p/n2/a.png", level(6));
  folder.write("p/n1/._a.png", "of macOS");
  const std::unique_ptr<Samples> samples =
      open_samples({.path = folder / "p", .inputs = {input("x", {1, 3, 3, 5}, DType::u8)}, .max_samples = 9});
  std::vector<std::string> order;
  for (int i = 0; samples->at(i); ++i) order.push_back(samples->origins(i).at(0).path.substr((folder / "p/").size()));
  EXPECT_EQ(order, (std::vector<std::string>{"n1/a.png", "n2/a.png", "n1/b.png"}));
}

TEST(Samples, PhotographsBesideArraysAndBrokenOnes) {
  const Folder folder;
  for (int i = 0; i < 20; ++i) folder.write("p/" + std::to_string(100 + i) + ".png", bytes_of(kPngs[5].file));
  const std::vector<BindingInfo> inputs = {input("x", {1, 3, 3, 5})};
  folder.write("p/105x.png", "no picture");
  const Seen seen = look_at(folder / "p", inputs);
  EXPECT_EQ(seen.samples.size(), 20u);
  ASSERT_EQ(seen.notes.size(), 2u);
  EXPECT_TRUE(says(seen.notes[0], "data: 1 of 21 photographs cannot be used and are left out; the first is '"));
  EXPECT_TRUE(says(seen.notes[0], "neither BMP, JPEG"));
  EXPECT_TRUE(says(seen.notes[1], "', as image=resize:5,crop:3x5"));
  folder.write("p/106x.png", "");
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "p", inputs); }), "2 of 22 photographs cannot be used, more than 5 %"));
  folder.write("q/a.npy", to_npy(counted({1, 3, 3, 5}))), folder.write("q/b.png", bytes_of(kPngs[5].file));
  EXPECT_TRUE(says(look_at(folder / "q", inputs).notes.at(0), "1 file of arrays and 1 photograph: the arrays are used"));
  EXPECT_TRUE(says(look_at(folder / "q", inputs, ImageSpec{}).notes.at(0), "the photographs are used"));
  const auto misused = [&] { look_at(folder / "q/a.npy", inputs, ImageSpec{}); };
  EXPECT_TRUE(says(refusal(misused, ErrorKind::invalid_argument), "image is for photographs, and '"));
}

TEST(Samples, PathsThatAreNone) {
  const Folder folder;
  const std::vector<BindingInfo> inputs = {input("x", {1, 3, 3, 5})};
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "none", inputs); }), "data: there is no '"));
  std::filesystem::create_directories(folder / "empty");
  EXPECT_TRUE(says(refusal([&] { look_at(folder / "empty", inputs); }), "data: no images in '"));
  const auto other = [&] {
    open_samples({.path = folder.write("a.bin", "x"), .inputs = inputs, .max_samples = 1, .other_kinds = ", .txt"});
  };
  EXPECT_TRUE(says(refusal(other), "data takes .npz, .npy or a folder of them, JPEG, PNG or a folder of those, .txt, not '"));
}

}  // namespace
}  // namespace tenfold::formats
