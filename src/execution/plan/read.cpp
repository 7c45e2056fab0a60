// From the sections of a file to a Plan.
#include "plan/read.h"

#include <algorithm>
#include <cstring>

#include "base/files/file.h"
#include "base/files/hash.h"
#include "base/files/huge_memory.h"
#include "base/threads/spread.h"
#include "plan/checksum.h"
#include "plan/fields.h"
#include "plan/format.h"
#include "plan/names.h"
#include "plan/refit_section.h"
#include "plan/weights.h"

namespace tenfold::plan {
namespace {

using Bytes = std::span<const std::byte>;

template <class... Args>
void need(bool condition, const Args&... args) { require(condition, ErrorKind::plan_refused, args...); }

constexpr const char* kMend = "; copy it again, or build it again";

std::string section_text(SectionId id) {
  switch (id) {
    case SectionId::metadata: return "its steps";
    case SectionId::weights: return "its weights";
    case SectionId::portable: return "the graph that it is tuned from";
    case SectionId::refit: return "what its refit needs";
    case SectionId::refit_tensors: return "the tensors of its refit";
    case SectionId::code: return "its device code";
    case SectionId::labels: return "its labels";
    case SectionId::kept_model: return "the model that it keeps";
    case SectionId::kept_weights: return "the weights of the model that it keeps";
    case SectionId::built: return "the record of its build";
    case SectionId::names: return "the model's names";
    case SectionId::builder: return "the name of its builder";
  }
  return cat("section ", static_cast<std::uint32_t>(id));
}

// What begins otherwise than a plan. Engines of TensorRT and models are what people take for one.
std::string not_a_plan(Bytes file, std::uint64_t size) {
  const auto begins = [&](std::string_view bytes) {
    return file.size() >= bytes.size() && std::memcmp(file.data(), bytes.data(), bytes.size()) == 0;
  };
  if (begins("ftrt"))
    return "this is not a Tenfold plan but an engine of TensorRT, which cannot be loaded: build a plan from the ONNX file that it was "
           "made of";
  const std::string facts = cat("this is not a Tenfold plan (", size, " bytes, and the first ", kMagic.size(), " are not a plan's)");
  constexpr int kVersions = 32;   // an ONNX file mostly begins with its version
  if (file.size() > 2 && begins("\x08") && std::to_integer<int>(file[1]) < kVersions)
    return facts + ": it looks like an ONNX model, of which a plan is built first";
  return facts + ": plans are built from ONNX files";
}

// Sizes that overflow and texts that do not parse are faults of the plan here.
template <class Read>
auto guarded(Read read) {
  try {
    return read();
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::plan_refused || e.kind() == ErrorKind::out_of_memory || e.kind() == ErrorKind::cancelled) throw;
    throw Error(ErrorKind::plan_refused, e.what());
  }
}

constexpr std::size_t kMaxTableBytes = kHeaderBytes + kTableEntryBytes * kMaxSections;

// `file`: its bytes, or as many of the first as header and table may take; `size` is that of all.
std::vector<Section> read_table(Bytes file, std::uint64_t size, bool any_version = false, std::uint32_t* found = nullptr) {
  need(file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0, not_a_plan(file, size));
  need(file.size() >= kHeaderBytes, "the plan is cut off: ", size, " bytes, the header alone has ", kHeaderBytes, kMend);
  Reader header(file.subspan(kMagic.size()));
  std::uint32_t version = 0, count = 0;
  std::uint64_t file_bytes = 0, checksum = 0;
  header(version, count, file_bytes, checksum);
  if (found) *found = version;
  need(any_version || version == kFormatVersion, "the plan has format version ", version, ", this library reads version ", kFormatVersion,
       ": rebuild it with this version");
  need(count <= kMaxSections, "the plan claims ", count, " sections", kMend);
  need(file_bytes == size, "the plan is damaged: it should have ", file_bytes, " bytes and has ", size, kMend);
  const std::size_t table_end = kHeaderBytes + kTableEntryBytes * count;
  need(table_end <= file.size(), "the plan is cut off inside its table of contents", kMend);
  const Bytes table = file.subspan(kHeaderBytes, table_end - kHeaderBytes);
  std::string checked(reinterpret_cast<const char*>(file.data()), kHeaderBytes - sizeof checksum);
  checked.append(reinterpret_cast<const char*>(table.data()), table.size());
  need(hash64(checked) == checksum, "the plan is damaged: the checksum of its header does not match", kMend);
  Reader reader(table);
  std::vector<Section> sections(count);
  for (Section& s : sections) {
    std::uint32_t id = 0;
    reader(id, s.flags, s.offset, s.bytes, s.checksum);
    s.id = static_cast<SectionId>(id);
  }
  return sections;
}

// Sections in order, inside the file, with nothing but zeros between them and nothing behind the last. `piece(offset, bytes)` gives some
// of the file.
template <class Piece>
void check_places(std::uint64_t size, const std::vector<Section>& sections, Piece&& piece) {
  std::uint64_t end = kHeaderBytes + kTableEntryBytes * sections.size();
  for (const Section& s : sections) {
    const std::uint64_t alignment = s.id == SectionId::weights ? kWeightsAlignment : kSectionAlignment;
    need(s.offset >= end && s.offset % alignment == 0 && s.offset <= size && s.bytes <= size - s.offset,
         "the plan is damaged: ", section_text(s.id), " cannot lie where the header says", kMend);
    const auto gap = piece(end, s.offset - end);
    need(std::all_of(gap.begin(), gap.end(), [](auto b) { return b == decltype(b){}; }), "the plan is damaged before ",
         section_text(s.id), kMend);
    for (const Section& other : sections)
      need(&other == &s || other.id != s.id, "the plan is damaged: it has ", section_text(s.id), " twice", kMend);
    end = s.offset + s.bytes;
  }
  need(end == size, "the plan is damaged: it has bytes after its last section", kMend);
}
void check_places(Bytes file, const std::vector<Section>& sections) {
  check_places(file.size(), sections, [&](std::uint64_t at, std::uint64_t bytes) { return file.subspan(at, bytes); });
}

std::map<std::string, std::string> labels_in(Bytes bytes) {
  std::vector<std::pair<std::string, std::string>> list;
  Reader reader(bytes);
  reader(list);
  reader.finish();
  return {list.begin(), list.end()};
}

Built read_built(Bytes bytes) {
  Built built;
  Reader reader(bytes);
  reader(built);
  reader.finish();
  return built;
}

// Bytes without an owner may go away: they are copied.
KeptModel kept(Bytes text, Bytes weights, const std::shared_ptr<const void>& owner) {
  KeptModel model{std::string(reinterpret_cast<const char*>(text.data()), text.size()), owner, weights};
  if (!owner && !weights.empty()) {
    const auto copy = std::make_shared<std::vector<std::byte>>(weights.begin(), weights.end());
    model.owner = copy, model.weights = *copy;
  }
  return model;
}

// `own_memory`: the owner's, which nobody else can change.
Plan parse(Bytes file, std::shared_ptr<const void> owner, const ReadOptions& options, bool own_memory) {
  const std::vector<Section> sections = read_table(file, file.size());
  check_places(file, sections);
  Bytes metadata, weights, portable, refit, refit_tensors, code, labels, names, kept_model, kept_weights, built;
  std::uint64_t weights_checksum = 0;
  for (const Section& s : sections) {
    const Bytes bytes = file.subspan(s.offset, s.bytes);
    const bool bulk = s.id == SectionId::weights || s.id == SectionId::refit_tensors || s.id == SectionId::kept_weights;
    if (!bulk || options.verify_weights)
      need(checksum_of(bytes, s.flags) == s.checksum, "the plan is damaged: the checksum of ", section_text(s.id), " does not match",
           kMend);
    switch (s.id) {
      case SectionId::metadata: metadata = bytes; break;
      case SectionId::weights: weights = bytes, weights_checksum = s.checksum; break;
      case SectionId::portable: portable = bytes; break;
      case SectionId::code: code = bytes; break;
      case SectionId::labels: labels = bytes; break;
      case SectionId::names: names = bytes; break;
      case SectionId::refit: refit = bytes; break;
      case SectionId::refit_tensors: refit_tensors = bytes; break;
      case SectionId::kept_model: kept_model = bytes; break;
      case SectionId::kept_weights: kept_weights = bytes; break;
      case SectionId::built: built = bytes; break;
      case SectionId::builder: break;   // the metadata say it, too
      default:
        need((s.flags & kOptional) != 0, "the plan needs ", section_text(s.id),
             ", which this version does not know: use the version that built it");
    }
  }
  need(!metadata.empty(), "the plan is damaged: it has no steps", kMend);
  Plan plan = read_metadata(metadata);
  plan.portable.assign(reinterpret_cast<const char*>(portable.data()), portable.size());
  if (!labels.empty()) plan.labels = guarded([&] { return labels_in(labels); });
  if (!built.empty()) plan.built = guarded([&] { return read_built(built); });   // plans of before have none
  plan.names.assign(reinterpret_cast<const char*>(names.data()), names.size());
  guarded([&] { return read_names(plan); });
  bool damaged = false;
  if (options.code) plan.code = backends::read_code(code, damaged);
  need(!damaged, "the plan is damaged: its device code is not in the form it should have", kMend);
  if (!refit.empty()) plan.refit = guarded([&] { return read_refit(refit, refit_tensors, owner, plan); });
  if (!kept_model.empty()) plan.kept = kept(kept_model, kept_weights, owner);
  if (auto known = options.known_weights && !weights.empty() ? options.known_weights(weights, weights_checksum) : nullptr) {
    plan.weights = static_cast<const std::byte*>(known.get());
    plan.weights_bytes = static_cast<std::int64_t>(weights.size());
    plan.weights_owner = std::move(known);
  } else {
    place_weights(plan, weights, std::move(owner), options.weights, own_memory);
  }
  return plan;
}

}  // namespace

Plan read_metadata(std::span<const std::byte> bytes) {
  return guarded([&] {
    Plan plan;
    Reader reader(bytes);
    fields(reader, plan);
    reader.finish();
    return plan;
  });
}

KeptPart read_kept(Bytes file, const std::shared_ptr<const void>& owner) {
  const std::vector<Section> sections = read_table(file, file.size(), true);
  check_places(file, sections);
  Bytes text, weights, labels;
  for (const Section& s : sections) {
    const Bytes bytes = file.subspan(s.offset, s.bytes);
    need(checksum_of(bytes, s.flags) == s.checksum, "the plan is damaged: the checksum of ", section_text(s.id), " does not match", kMend);
    if (s.id == SectionId::kept_model) text = bytes;
    if (s.id == SectionId::kept_weights) weights = bytes;
    if (s.id == SectionId::labels) labels = bytes;
  }
  if (text.empty()) return {};
  return {kept(text, weights, owner), labels.empty() ? std::map<std::string, std::string>() : guarded([&] { return labels_in(labels); })};
}

namespace {

// One small section of a plan of any version, of which no other byte is touched; empty if it has none.
std::string read_section(const OpenFile& file, SectionId id, const char* what, std::uint32_t* version = nullptr) {
  const std::string head = file.read(0, std::min<std::uint64_t>(file.size(), kMaxTableBytes));
  const std::vector<Section> sections = read_table(std::as_bytes(std::span(head)), file.size(), true, version);
  check_places(file.size(), sections, [&](std::uint64_t at, std::uint64_t bytes) {
    need(bytes <= kWeightsAlignment, "the plan has ", bytes, " bytes between two sections");
    return file.read(at, bytes);
  });
  for (const Section& s : sections) {
    if (s.id != id) continue;
    std::string bytes = file.read(s.offset, s.bytes);
    need(checksum_of(std::as_bytes(std::span(bytes)), s.flags) == s.checksum, "the plan is damaged: the checksum of its ", what,
         " does not match");
    return bytes;
  }
  return "";
}

}  // namespace

PlanVersion read_version(const std::string& path) {
  PlanVersion version{.reads = kFormatVersion};
  version.builder = read_section(OpenFile(path), SectionId::builder, "builder's name", &version.format);
  return version;
}

std::map<std::string, std::string> read_labels(const std::string& path) {
  const std::string bytes = read_section(OpenFile(path), SectionId::labels, "labels");
  if (bytes.empty()) return {};
  return guarded([&] { return labels_in(std::as_bytes(std::span(bytes))); });
}

Plan load(const std::string& path, const ReadOptions& options) {
  if (options.weights == WeightsMode::map) {
    const auto file = MappedFile::open(path);
    return parse(file->bytes(), file, options, false);
  }
  try {
    const MaySpread may_spread;
    const auto file = MappedFile::read(path);
    return parse(file->bytes(), file, options, true);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::out_of_memory) throw;
    throw Error(e.kind(), cat(e.what(), " (WeightsMode::map leaves the weights in the file)"));
  }
}

Plan load(std::span<const std::byte> bytes, const ReadOptions& options) { return parse(bytes, nullptr, options, false); }

Plan load(const PlanReader& reader, const ReadOptions& options) {
  require(reader.read != nullptr && reader.bytes <= INT64_MAX, ErrorKind::invalid_argument, "a plan of ", reader.bytes,
          " bytes is to be read, or there is no function that reads it");
  const std::shared_ptr<void> memory = map_huge(static_cast<std::int64_t>(std::max<std::uint64_t>(reader.bytes, 1)));
  require(memory != nullptr, ErrorKind::out_of_memory, "cannot allocate ", reader.bytes, " bytes for the plan");
  const std::span all(static_cast<std::byte*>(memory.get()), static_cast<std::size_t>(reader.bytes));
  constexpr std::size_t kPiece = 64 << 20;
  for (std::size_t at = 0; at < all.size(); at += kPiece) reader.read(at, all.subspan(at, std::min(kPiece, all.size() - at)));
  return parse(all, memory, options, true);
}

}  // namespace tenfold::plan
