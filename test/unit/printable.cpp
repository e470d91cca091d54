//===- printable.cpp - text as a terminal may be shown it -----------------===//

#include "mnistrt/printable.h"
#include <gtest/gtest.h>

namespace {

TEST(Printable, KeepsTextAndEscapesTheRest) {
  const struct {
    std::string text, expected;
  } cases[] = {{"conv_0 'x' \\", "conv_0 'x' \\"},
               {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
               {"a\nb\r\tc", "a\\nb\\r\\tc"},
               {"\x1b[31mred\x07\x7f", "\\x1b[31mred\\x07\\x7f"},
               {std::string("\0", 1), "\\x00"},
               {"\xc2\x9b\xc2\xa0", "\\xc2\\x9b\xc2\xa0"},
               {"\xff\xc3", "\\xff\\xc3"},
               {"\xc0\x80", "\\xc0\\x80"},
               {"\xed\xa0\x80", "\\xed\\xa0\\x80"}};
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(mn::printable(text), expected);
}

} // namespace
