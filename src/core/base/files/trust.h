// Whether others may have written a file: machine code that comes from a cache runs as this user.
#pragma once

#include <string>

namespace tenfold {

// Empty: only this user and root may have written it. Else why not, in words: "it belongs to user 1007". A group that may
// write is trusted, for the owner has named it. A file that is not there gets no reason.
std::string why_others_may_write(const std::string& path);

// The file behind links that belong to this user or root, where such links name one; else the path itself. Throws io for a
// link of somebody else: in a folder that others may write to, it could lead to any file of this user.
std::string past_own_links(const std::string& path);

}  // namespace tenfold
