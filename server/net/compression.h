// gzip and deflate, as HTTP names them (deflate: with zlib's header).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace tenfold::server {

enum class Encoding { none, gzip, deflate };
std::optional<Encoding> content_encoding(std::string_view header);   // not set: another one
Encoding accepted_encoding(std::string_view header);                // the first known one of Accept-Encoding whose weight is not 0

enum class Inflated { ok, damaged, too_large };
// `request`'s body in place of what was sent. At most `limit` bytes.
Inflated inflate_body(HttpRequest& request, Encoding encoding, std::size_t limit);
std::string deflated(const std::vector<BodyPart>& body, Encoding encoding);

}  // namespace tenfold::server
