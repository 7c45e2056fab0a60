// Names as bytes. Everything is checked as it is read: what a name unfolds to, too, is bounded by the bytes that say it.
#include "plan/names.h"

#include <algorithm>

#include "base/check.h"
#include "base/types/utf8.h"

namespace tenfold::plan {
namespace {

constexpr std::uint64_t kMaxShared = 64, kSharedPerByte = 16;   // of a name, with the one before it

class NameWriter {
 public:
  std::string bytes;

  void number(std::uint64_t n) {
    for (; n >= 128; n >>= 7) bytes.push_back(static_cast<char>(n | 128));
    bytes.push_back(static_cast<char>(n));
  }
  void text(const std::string& value) {
    std::size_t shared = 0;
    while (shared < std::min(value.size(), last_.size()) && value[shared] == last_[shared]) ++shared;
    if (shared > kMaxShared + kSharedPerByte * (value.size() - shared)) shared = kMaxShared;
    number(shared), number(value.size() - shared);
    bytes.append(value, shared);
    last_ = value;
  }
  void list(const ir::NameList& values) {
    number(values.size());
    std::int32_t last = 0;
    for (const std::int32_t v : values) number(static_cast<std::uint64_t>(v - last)), last = v;
  }

 private:
  std::string last_;
};

class NameReader {
 public:
  explicit NameReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t n = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (at_ == bytes_.size()) refuse("they end in a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      n |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return n;
    }
    refuse("a number is too long");
  }
  // Of elements that take a byte each at least.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n > bytes_.size() - at_) refuse("a list of ", n, " passes the end");
    return static_cast<std::size_t>(n);
  }
  std::string text() {
    const std::uint64_t shared = number();
    const std::size_t own = count();
    if (shared > last_.size() || shared > kMaxShared + kSharedPerByte * own) refuse("a name shares ", shared, " bytes with the last");
    last_.resize(static_cast<std::size_t>(shared));
    last_.append(bytes_, at_, own);
    at_ += own;
    if (!is_utf8(last_)) refuse("'", readable(last_), "' is no UTF-8");
    return last_;
  }
  ir::NameList list(std::size_t limit) {
    ir::NameList values(count());
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t step = number();
      if (step >= limit || last + step >= limit || (i > 0 && step == 0)) refuse("a list names what is not there");
      values[i] = static_cast<std::int32_t>(last += step);
    }
    return values;
  }
  void finish() const {
    if (at_ != bytes_.size()) refuse("there is more than expected");
  }
  template <class... Args>
  [[noreturn]] void refuse(const Args&... what) const {
    fail(ErrorKind::plan_refused, cat("the plan's names of the model: ", what..., " (at byte ", at_, " of ", bytes_.size(), ")"));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string last_;
};

ProgramNames read_program(NameReader& in, const Program& program, const ir::NameTable& table) {
  ProgramNames names;
  each_step(program, [&](const Step& step) {
    StepNames& of = names.steps.emplace_back();
    of.nodes = in.list(table.nodes.size());
    for (std::size_t o = 0; o < step.in.size() + step.out.size(); ++o) of.operands.push_back(in.list(table.tensors.size()));
  });
  for (std::size_t reasons = in.count(); reasons > 0; --reasons) {
    const std::string by = in.text();
    for (const std::int32_t node : in.list(table.nodes.size())) names.removed.push_back({node, by});
  }
  return names;
}

void write_program(NameWriter& out, const ProgramNames& program) {
  for (const StepNames& step : program.steps) {
    out.list(step.nodes);
    for (const ir::NameList& tensors : step.operands) out.list(tensors);
  }
  std::map<std::string, ir::NameList> removed;
  for (const ir::Removed& r : program.removed) ir::join(removed[r.by], {r.node});
  out.number(removed.size());
  for (const auto& [by, nodes] : removed) out.text(by), out.list(nodes);
}

}  // namespace

std::string write_names(const Names& names) {
  NameWriter out;
  out.number(names.table.tensors.size());
  for (const std::string& tensor : names.table.tensors) out.text(tensor);
  out.number(names.table.nodes.size());
  for (const ir::NameTable::Node& node : names.table.nodes) out.text(node.name), out.list(node.inputs), out.list(node.outputs);
  for (const ProgramNames& program : names.programs) write_program(out, program);
  return std::move(out.bytes);
}

Names read_names(const Plan& plan) {
  Names names;
  if (plan.names.empty()) return names;
  NameReader in(plan.names);
  names.table.tensors.resize(in.count());
  for (std::string& tensor : names.table.tensors) tensor = in.text();
  for (std::size_t nodes = in.count(); nodes > 0; --nodes) {
    std::string name = in.text();
    ir::NameList inputs = in.list(names.table.tensors.size()), outputs = in.list(names.table.tensors.size());
    names.table.nodes.push_back({std::move(name), std::move(inputs), std::move(outputs)});
  }
  for (const Program& program : plan.programs) names.programs.push_back(read_program(in, program, names.table));
  in.finish();
  return names;
}

std::string computed_text(const Plan& plan, const Step& step) {
  const Names names = read_names(plan);
  std::string text;
  for (std::size_t p = 0; p < names.programs.size(); ++p) {
    std::size_t number = 0;
    each_step(plan.programs[p], [&](const Step& one) {
      if (&one == &step)
        for (const std::int32_t n : names.programs[p].steps[number].nodes)
          text += cat(text.empty() ? ", computes '" : ", '", names.table.nodes[static_cast<std::size_t>(n)].name, "'");
      ++number;
    });
  }
  return text;
}

}  // namespace tenfold::plan
