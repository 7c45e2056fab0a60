// Checking the tables of plug-ins.
#include "runtime/plugins/struct.h"

#include "ops/onnx_dtype.h"

namespace tenfold::runtime {
namespace {

constexpr std::int32_t kMaxAttributes = 1024, kMaxTactics = 16, kMaxList = 1 << 24;

bool is_name(const char* text) {
  if (!text || !*text || std::strlen(text) > 256) return false;
  return std::all_of(text, text + std::strlen(text), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Tensor take_tensor(const tenfold_plugin_tensor* given, const std::string& of) {
  require(given && given->rank >= 0 && given->rank <= 64 && (given->rank == 0 || given->shape),
          ErrorKind::invalid_argument, of, " is no tensor");
  const DType dtype = ops::dtype_from_onnx(given->dtype);
  require(dtype != DType::string, ErrorKind::unsupported, of, " holds strings");
  Tensor tensor(dtype, Shape(given->shape, given->shape + given->rank));
  require(tensor.bytes() == 0 || given->data, ErrorKind::invalid_argument, of, " has no data");
  if (tensor.bytes() > 0) std::memcpy(tensor.mutable_raw(), given->data, static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

ir::Attribute take_attribute(const tenfold_plugin_attribute& a, const std::string& of) {
  const bool plural =
      a.kind == TENFOLD_PLUGIN_INTS || a.kind == TENFOLD_PLUGIN_FLOATS || a.kind == TENFOLD_PLUGIN_STRINGS;
  const std::int32_t count = plural ? a.count : 1;
  require(count >= 0 && count <= kMaxList, ErrorKind::invalid_argument, of, " has ", count, " values");
  const auto list = [&](auto* values) {
    require(count == 0 || values, ErrorKind::invalid_argument, of, " has no values of its kind (", a.kind, ")");
    return std::span(values, static_cast<std::size_t>(count));
  };
  const auto strings = [&] {
    ir::Strings out;
    for (const char* s : list(a.strings)) {
      require(s != nullptr, ErrorKind::invalid_argument, of, " holds a null string");
      out.emplace_back(s);
    }
    return out;
  };
  switch (a.kind) {
    case TENFOLD_PLUGIN_INT: return list(a.ints)[0];
    case TENFOLD_PLUGIN_FLOAT: return list(a.floats)[0];
    case TENFOLD_PLUGIN_STRING: return strings()[0];
    case TENFOLD_PLUGIN_INTS: return ir::Ints(list(a.ints).begin(), list(a.ints).end());
    case TENFOLD_PLUGIN_FLOATS: return ir::Floats(list(a.floats).begin(), list(a.floats).end());
    case TENFOLD_PLUGIN_STRINGS: return strings();
    case TENFOLD_PLUGIN_TENSOR: return take_tensor(a.tensor, of);
    default: fail(ErrorKind::invalid_argument, cat(of, " has kind ", a.kind, ", which does not exist"));
  }
}

PluginTacticTable take_tactic(const tenfold_plugin_tactic* given, const std::string& of) {
  PluginTacticTable tactic{take_struct(given, TENFOLD_BYTES_WITH(tenfold_plugin_tactic, run), of), "", ""};
  const tenfold_plugin_tactic& t = tactic.table;
  require(is_name(t.name), ErrorKind::invalid_argument, of, " needs a name of letters, digits and _");
  tactic.name = t.name, tactic.device = t.device ? t.device : "";
  require(tactic.device == "cpu" || tactic.device == "cuda", ErrorKind::invalid_argument, of, " ('", tactic.name,
          "') is for the device '", tactic.device, "'; there are \"cpu\" and \"cuda\"");
  require(t.run != nullptr, ErrorKind::invalid_argument, of, " ('", tactic.name, "') has no run()");
  require(t.open || !t.close, ErrorKind::invalid_argument, of, " ('", tactic.name, "') has close() but no open()");
  require((t.flags & ~TENFOLD_PLUGIN_NOT_CAPTURABLE) == 0, ErrorKind::invalid_argument, of, " ('", tactic.name, "') has flags ", t.flags,
          "; TENFOLD_PLUGIN_NOT_CAPTURABLE (1) is the only one");
  if (tactic.table.version <= 0) tactic.table.version = 1;
  return tactic;
}

void check_operator(const PluginTable& plugin) {
  const tenfold_plugin_operator& t = plugin.table;
  const std::string of = plugin_text(plugin);
  require(t.min_inputs >= 0 && t.max_inputs >= t.min_inputs && t.min_outputs > 0 && t.max_outputs >= t.min_outputs,
          ErrorKind::invalid_argument, of, " takes ", t.min_inputs, " to ", t.max_inputs, " operands and gives ",
          t.min_outputs, " to ", t.max_outputs, " results, which makes no sense");
  if (t.expand) {
    require(!t.infer && !t.compute && t.tactic_count == 0, ErrorKind::invalid_argument, of,
            " is a graph (expand), which has no infer(), compute() and tactics");
  } else {
    require(t.infer && t.compute, ErrorKind::invalid_argument, of, " has no ",
            t.infer     ? "compute()"
            : t.compute ? "infer()"
                        : "functions",
            ": a computation needs infer() and compute(), a graph expand()");
  }
  require(t.tactic_count >= 0 && t.tactic_count <= kMaxTactics && (t.tactic_count == 0 || t.tactics),
          ErrorKind::invalid_argument, of, " has ", t.tactic_count, " tactics, 0 to ", kMaxTactics, " may be given");
}

}  // namespace

std::string plugin_text(const PluginTable& plugin) {
  return cat("plug-in '", plugin.name, "'", plugin.library.empty() ? "" : cat(" of ", plugin.library));
}

void expect_done(std::int32_t code, const PluginTable& plugin, const char* call, const char* why) {
  if (code == 0) return;
  const bool known = code > 0 && code <= static_cast<std::int32_t>(ErrorKind::internal) + 1;
  const std::string message =
      why && *why ? std::string(why) : cat(call, "() failed with ", code, " and says nothing of why");
  throw Error(known ? static_cast<ErrorKind>(code - 1) : ErrorKind::internal, cat(plugin_text(plugin), ": ", message));
}

ir::Attributes take_attributes(const tenfold_plugin_attribute* list, std::int32_t count, const std::string& of) {
  require(count >= 0 && count <= kMaxAttributes && (count == 0 || list), ErrorKind::invalid_argument, of, " has ",
          count, " attributes");
  ir::Attributes attributes;
  for (std::int32_t i = 0; i < count; ++i) {
    require(is_name(list[i].name), ErrorKind::invalid_argument, "attribute ", i, " of ", of,
            " needs a name of letters, digits and _");
    const std::string name = list[i].name;
    require(!attributes.has(name), ErrorKind::invalid_argument, of, " has two attributes '", name, "'");
    attributes.set(name, take_attribute(list[i], cat("attribute '", name, "' of ", of)));
  }
  return attributes;
}

std::shared_ptr<PluginTable> take_operator(const tenfold_plugin_operator* given, const std::string& library,
                                           std::shared_ptr<const void> keeps_library) {
  const std::string from = library.empty() ? "" : " of " + library;
  auto plugin = std::make_shared<PluginTable>();
  plugin->library = library, plugin->keeps_library = std::move(keeps_library);
  plugin->table =
      take_struct(given, TENFOLD_BYTES_WITH(tenfold_plugin_operator, compute), "the plug-in operator" + from);
  tenfold_plugin_operator& t = plugin->table;
  const std::string domain = t.domain ? t.domain : "", name = t.name ? t.name : "";
  const auto in_domain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; };
  const bool own = !domain.empty() && domain != "ai.onnx" && std::all_of(domain.begin(), domain.end(), in_domain);
  require(
      (own || domain == ir::kAnyDomain) && is_name(t.name),
      ErrorKind::invalid_argument, "a plug-in", from, " needs a name and a domain of its own, '", domain, "' and '",
      name, "' are given");
  plugin->name = (own ? domain : "any") + "." + name;
  if (t.since <= 0) t.since = 1;
  if (t.version <= 0) t.version = 1;
  check_operator(*plugin);
  for (std::int32_t i = 0; i < t.tactic_count; ++i) {
    plugin->tactics.push_back(take_tactic(t.tactics[i], cat("tactic ", i, " of ", plugin_text(*plugin))));
    for (std::int32_t other = 0; other < i; ++other)
      require(plugin->tactics[static_cast<std::size_t>(other)].name != plugin->tactics.back().name,
              ErrorKind::invalid_argument, plugin_text(*plugin), " has two tactics '", plugin->tactics.back().name,
              "'");
  }
  return plugin;
}

}  // namespace tenfold::runtime
