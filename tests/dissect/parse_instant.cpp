// Points in time as people type them.
#include <dissect/base/parse_instant.hpp>
#include <tests/support/catch.hpp>

using namespace qps::dissect;

TEST_CASE("a date and a time of day are UTC unless they say otherwise") {
    constexpr Instant kBase{1'795'223'648'000'000'000};  // 2026-11-21 01:14:08 UTC
    for (const char* text :
         {"2026-11-21 01:14:08", "2026-11-21T01:14:08", "2026-11-21T01:14:08Z", "2026-11-21 01:14:08.000",
          "2026-11-21 02:14:08+01:00", "2026-11-20T19:44:08-0530", "2026-11-21 03:14:08+02"}) {
        CAPTURE(text);
        CHECK(parse_instant(text) == kBase);
    }
    CHECK(parse_instant("2026-11-21 01:14:08.985306") == kBase + Duration{985'306'000});
    CHECK(parse_instant("2026-11-21 01:14:08.000000001") == kBase + Duration{1});
    CHECK(parse_instant("2026-11-21 01:14") == kBase - Duration{8'000'000'000});
    CHECK(parse_instant("1970-01-01") == Instant{});
    CHECK(parse_instant("2024-02-29") == Instant{1'709'164'800'000'000'000});
    CHECK(parse_instant("2261-12-31 23:59:59.999999999"));
}

TEST_CASE("what is no point in time is refused whole") {
    for (const char* text : {"",
                             "2026",
                             "2026-11",
                             "2026-11-31",
                             "2025-02-29",
                             "2026-13-01",
                             "1969-12-31",
                             "2262-01-01",
                             "01:14:08",
                             "2026-11-21 24:00:00",
                             "2026-11-21 01",
                             "2026-11-21 01:60",
                             "2026-11-21 01:14:60",
                             "2026-11-21 01:14:08.",
                             "2026-11-21 01:14:08.0000000001",
                             "2026-11-21 01:14:08 ",
                             " 2026-11-21",
                             "2026-11-21 01:14:08+15:00",
                             "2026-11-21 01:14:08+1",
                             "2026-11-21 01:14:08+01:",
                             "2026-1-2",
                             "2026-11-21x",
                             "1795223648"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_instant(text));
    }
}
