// Style, scripts and data go to their places in page.html.
#include "report/page.h"

#include <nlohmann/json.hpp>

#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

std::string_view file(std::string_view name) {
  for (const PageFile& f : page_files())
    if (f.name == name) return f.text;
  throw Error(ErrorKind::internal, "the page of reports has no file '" + std::string(name) + "'");
}

// Inside of a script element HTML knows no escapes, and "</script" ends it wherever it stands. In JSON '<' stands in strings only, where it
// may be written by its number.
std::string for_script(const nlohmann::ordered_json& data) {
  const std::string json = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

}  // namespace

std::string page_of(const nlohmann::ordered_json& data) {
  constexpr std::string_view kOpen = "<!--put:", kClose = "-->";
  std::string page;
  std::string_view rest = file("page.html");
  for (std::size_t at; (at = rest.find(kOpen)) != std::string_view::npos;) {
    const std::size_t end = rest.find(kClose, at);
    const std::string_view name = rest.substr(at + kOpen.size(), end - at - kOpen.size());
    page += rest.substr(0, at);
    page += name == "data" ? for_script(data) : std::string(file(name));
    rest.remove_prefix(end + kClose.size());
  }
  return page += rest;
}

}  // namespace tenfold::cli
