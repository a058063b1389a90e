// Text from outside (names in traces, files and programs) made fit for a message or a document. One rule for all of it: what cannot
// stand as it is becomes an escape, \xE9 for a byte, so that different names stay different.
#pragma once

#include <string>
#include <string_view>

namespace homenode {

// Bytes that are no part of a character in UTF-8 (Unicode 15, table 3-7) become \xNN; everything else stays.
std::string valid_utf8(std::string_view text);

// For an error of one line: valid_utf8, control characters (Cc) become \n, \t or \xNN, and of a longer text `limit` bytes and '…' are left.
std::string brief(std::string_view text, std::size_t limit = 200);

}  // namespace homenode
