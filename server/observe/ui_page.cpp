#include "observe/page_files.h"

namespace tenfold::server {
namespace {

std::string_view file(std::string_view name) {
  for (const PageFile& one : page_files())
    if (one.name == name) return one.text;
  return {};
}

std::string put_together() {
  constexpr std::string_view kOpen = "<!--put:", kClose = "-->";
  std::string page;
  std::string_view rest = file("page.html");
  for (std::size_t at; (at = rest.find(kOpen)) != std::string_view::npos;) {
    const std::size_t end = rest.find(kClose, at);
    page.append(rest.substr(0, at)).append(file(rest.substr(at + kOpen.size(), end - at - kOpen.size())));
    rest.remove_prefix(end + kClose.size());
  }
  return page.append(rest);
}

}  // namespace

const std::string& ui_page() {
  static const std::string page = put_together();
  return page;
}

std::string_view openapi_document() { return file("openapi.json"); }

}  // namespace tenfold::server
