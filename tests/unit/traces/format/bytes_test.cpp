// Bytes in, fields out: a field that is too long for its record is refused.
#include "traces/format/records/bytes.hpp"

#include <gtest/gtest.h>

namespace homenode::format {
namespace {

TEST(ByteReader, ReadsATextToTheEndOfItsRecord) {
  const std::uint8_t bytes[] = {2, 'a', 'b'};
  ByteReader reader{bytes};
  EXPECT_EQ(reader.text(), "ab");
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, RefusesATextLongerThanWhatFollowsItsLength) {
  // one byte follows the length; three did with the length itself and the byte before it
  const std::uint8_t bytes[] = {0, 2, 'a'};
  ByteReader reader{bytes};
  EXPECT_EQ(reader.byte(), 0);
  try {
    reader.text();
    FAIL() << "was read";
  } catch (const DecodeError& error) { EXPECT_EQ(error.message, "a text's length is 2; at most 1 is allowed"); }
}

TEST(ByteReader, RefusesACountOfMoreElementsThanBytesFollow) {
  const std::uint8_t bytes[] = {3, 0, 0};
  ByteReader reader{bytes};
  EXPECT_THROW(reader.count("a count"), DecodeError);
}

TEST(ByteReader, RefusesNumbersOfMoreThan64Bits) {
  const std::uint8_t most[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
  EXPECT_EQ(ByteReader{most}.unsigned_value(), UINT64_MAX);
  const std::uint8_t more[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
  EXPECT_THROW(ByteReader{more}.unsigned_value(), DecodeError);
}

}  // namespace
}  // namespace homenode::format
