// From a Plan to the sections of its file.
#include "plan/write.h"

#include "base/files/file.h"
#include "base/files/hash.h"
#include "plan/checksum.h"
#include "plan/fields.h"
#include "plan/format.h"
#include "plan/refit_section.h"

namespace tenfold::plan {
namespace {

using Bytes = std::span<const std::byte>;
Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

struct NewSection {
  SectionId id;
  std::uint32_t flags;
  std::size_t alignment;
  Bytes bytes;
};

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

// Header and table, with the offsets that the sections get.
std::string head(const std::vector<NewSection>& sections, std::vector<std::uint64_t>& offsets) {
  std::uint64_t end = kHeaderBytes + kTableEntryBytes * sections.size();
  Writer table;
  for (const NewSection& section : sections) {
    offsets.push_back(end = aligned(end, section.alignment));
    std::uint32_t id = static_cast<std::uint32_t>(section.id), flags = section.flags;
    if (section.bytes.size() > kHashedPiece) flags |= kInPieces;
    std::uint64_t size = section.bytes.size(), checksum = checksum_of(section.bytes, flags);
    table(id, flags, end, size, checksum);
    end += size;
  }
  Writer header;
  header.raw(kMagic.data(), kMagic.size());
  std::uint32_t version = kFormatVersion, count = static_cast<std::uint32_t>(sections.size());
  header(version, count, end);
  std::uint64_t checksum = hash64(header.bytes + table.bytes);
  header(checksum);
  return header.bytes + table.bytes;
}

// The weights in one block, as they are after refits.
std::string refitted_weights(const Plan& plan) {
  std::string bytes(reinterpret_cast<const char*>(plan.weights), static_cast<std::size_t>(plan.weights_bytes));
  for (std::size_t i = 0; i < plan.constants.size(); ++i)
    bytes.replace(static_cast<std::size_t>(plan.constants[i].offset), static_cast<std::size_t>(plan.constants[i].bytes),
                  reinterpret_cast<const char*>(plan.bytes_of(i)), static_cast<std::size_t>(plan.constants[i].bytes));
  return bytes;
}

}  // namespace

void write(const Plan& plan, const std::function<void(Bytes)>& put) {
  const std::string metadata = write_metadata(plan);
  check(plan.weights_bytes == 0 || plan.weights != nullptr, "a plan with weights has no bytes for them");
  const std::string refitted = plan.replaced.empty() ? "" : refitted_weights(plan);
  const Bytes weights = plan.replaced.empty() ? Bytes{plan.weights, static_cast<std::size_t>(plan.weights_bytes)} : bytes_of(refitted);
  std::vector<NewSection> sections{{SectionId::metadata, 0, kSectionAlignment, bytes_of(metadata)},
                            {SectionId::weights, 0, kWeightsAlignment, weights}};
  if (!plan.portable.empty()) sections.push_back({SectionId::portable, kOptional, kSectionAlignment, bytes_of(plan.portable)});
  const std::string code = backends::write_code(plan.code);
  if (!code.empty()) sections.push_back({SectionId::code, kOptional, kSectionAlignment, bytes_of(code)});
  Writer labels;
  std::vector<std::pair<std::string, std::string>> list(plan.labels.begin(), plan.labels.end());
  labels(list);
  if (!list.empty()) sections.push_back({SectionId::labels, kOptional, kSectionAlignment, bytes_of(labels.bytes)});
  if (!plan.builder.empty()) sections.push_back({SectionId::builder, kOptional, kSectionAlignment, bytes_of(plan.builder)});
  Writer built;
  fields(built, const_cast<Built&>(plan.built));   // as write_metadata()
  sections.push_back({SectionId::built, kOptional, kSectionAlignment, bytes_of(built.bytes)});
  if (!plan.names.empty()) sections.push_back({SectionId::names, kOptional, kSectionAlignment, bytes_of(plan.names)});
  const RefitBytes refit = write_refit(plan.refit);
  if (!plan.refit.weights.empty()) {
    sections.push_back({SectionId::refit, kOptional, kSectionAlignment, bytes_of(refit.table)});
    sections.push_back({SectionId::refit_tensors, kOptional, kSectionAlignment, bytes_of(refit.tensors)});
  }
  if (!plan.kept.text.empty()) {
    sections.push_back({SectionId::kept_model, kOptional, kSectionAlignment, bytes_of(plan.kept.text)});
    sections.push_back({SectionId::kept_weights, kOptional, kSectionAlignment, plan.kept.weights});
  }
  std::vector<std::uint64_t> offsets;
  const std::string top = head(sections, offsets);
  put(bytes_of(top));
  std::uint64_t at = top.size();
  static constexpr std::byte kZeros[kWeightsAlignment]{};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    put({kZeros, offsets[i] - at});
    put(sections[i].bytes);
    at = offsets[i] + sections[i].bytes.size();
  }
}

std::string write_metadata(const Plan& plan) {
  Writer metadata;
  fields(metadata, const_cast<Plan&>(plan));   // the one list of fields takes references for reading; a Writer changes nothing
  return std::move(metadata.bytes);
}

void save(const Plan& plan, const std::string& path) {
  AtomicFile file(path);
  write(plan, [&](Bytes bytes) { file.write(bytes); });
  file.commit();
}

std::string serialize(const Plan& plan) {
  std::string all;
  write(plan, [&](Bytes bytes) { all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); });
  return all;
}

}  // namespace tenfold::plan
