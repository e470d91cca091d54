//===- json.cpp - JSON for other programs to read -------------------------===//

#include "formats/json.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using mn::Json;
using mn::jsonText;

TEST(Json, KeysKeepTheirOrder) {
  EXPECT_EQ(jsonText({{"event", "epoch"},
                      {"epoch", 3},
                      {"loss", 0.25},
                      {"best", true},
                      {"file", "a.onnx"}}),
            R"({"event":"epoch","epoch":3,"loss":0.25,"best":true,)"
            R"("file":"a.onnx"})");
}

TEST(Json, NumbersReadBack) {
  for (const double value :
       {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123456789})
    EXPECT_EQ(Json::parse(jsonText(value)).get<double>(), value);
  EXPECT_EQ(jsonText({UINT64_MAX, INT64_MIN}),
            "[18446744073709551615,-9223372036854775808]");
  EXPECT_EQ(jsonText({{"v", NAN}, {"w", {-INFINITY, INFINITY}}}),
            R"({"v":"nan","w":["-inf","inf"]})");
}

TEST(Json, StringsStayText) {
  EXPECT_EQ(jsonText("a\"b\\c\n\t\x01\x1b\x7f"),
            R"("a\"b\\c\n\t\u0001\u001b\u007f")");
  EXPECT_EQ(jsonText("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  // U+009B begins an escape sequence of terminals, U+00A0 is a blank.
  EXPECT_EQ(jsonText("\xc2\x9b\xc2\xa0"), "\"\\u009b\xc2\xa0\"");
  for (const char *bad : {"\xff", "\xc3", "\xe2\x82"})
    EXPECT_EQ(jsonText(bad), "\"\xef\xbf\xbd\"");
}

} // namespace
