#include "traces/format/records/bytes.hpp"

#include <array>

namespace homenode {

namespace {
constexpr std::array<const char*, last_record_type + 1> names{
    "",      "META",   "STRING",  "SITE",       "THREAD",      "REGION",     "EXECUTION", "ITEM",          "SEGMENT",     "OBJECT",
    "HEAP",  "RUN",    "STREAM",  "PATTERN",    "INSTANCE",    "SYNC",       "EDGE",      "MARK",          "CALIBRATION", "LOSS",
    "INDEX", "FOOTER", "OUTSIDE", "CODE_BLOCK", "CODE_WINDOW", "CODE_COUNT", "CODE_HOST", "MEASURED_TIME", "CODE_PLACE"};
}

const char* name_of(RecordType type) { return names.at(static_cast<std::size_t>(type)); }

}  // namespace homenode

namespace homenode::format {

void refuse_record(std::uint64_t type, const std::vector<std::string>& names) {
  const std::string name = type < names.size() && !names[type].empty() ? "'" + names[type] + "' (type " + std::to_string(type) + ")"
                                                                       : "of type " + std::to_string(type);
  throw DecodeError{"unknown critical record " + name + "; this version knows types 1 to " + std::to_string(last_record_type) +
                    ", each in its place; read the file with the homenode that wrote it"};
}

}  // namespace homenode::format
