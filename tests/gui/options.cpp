// The command line of the window, without a window.
#include <gui/launch/options.hpp>
#include <tests/support/catch.hpp>

using namespace qps::gui;

namespace {

const QStringList kViews{QStringLiteral("summary"), QStringLiteral("packets"), QStringLiteral("ladder")};

std::expected<Options, QString> parsed(const char* line) {
    const QString text = QString::fromLatin1(line);
    return parseOptions(text.isEmpty() ? QStringList{} : text.split(QLatin1Char(' ')), kViews);
}

}  // namespace

TEST_CASE("Files and options are told apart") {
    const auto none = parsed("");
    REQUIRE(none);
    CHECK(none->files.isEmpty());
    CHECK(none->capture == CaptureChoice{});

    const auto some = parsed("a.pcap -Y tcp --view ladder -j 3 - -- -odd --view");
    REQUIRE(some);
    CHECK(some->files.join(QLatin1Char(' ')) == QStringLiteral("a.pcap - -odd --view"));
    CHECK(some->filter == QStringLiteral("tcp"));
    CHECK(some->view == QStringLiteral("ladder"));
    CHECK(some->jobs == 3);

    CHECK_FALSE(none->memory);
    const auto little = parsed("--memory 1GiB a.pcap");
    REQUIRE(little);
    REQUIRE(little->memory);
    CHECK(little->memory->bytes() == std::uint64_t{1} << 30);

    for (const char* line : {"-i eth0 -f udp", "--interface eth0 --capture-filter udp",
                             "--interface=eth0 --capture-filter=udp", "-ieth0 -fudp"}) {
        CAPTURE(line);
        const auto live = parsed(line);
        REQUIRE(live);
        CHECK(live->capture == CaptureChoice{QStringLiteral("eth0"), QStringLiteral("udp")});
    }
    // A value may look like an option.
    const auto minus = parsed("-Y -1 a.pcap");
    REQUIRE(minus);
    CHECK(minus->filter == QStringLiteral("-1"));
}

TEST_CASE("Every view can be named, and a wrong name is answered with all of them") {
    for (const QString& view : kViews) CHECK(parseOptions({QStringLiteral("--view"), view}, kViews));
    const auto wrong = parsed("--view picture");
    REQUIRE_FALSE(wrong);
    for (const QString& view : kViews) CHECK(wrong.error().contains(view));
}

TEST_CASE("What makes no sense is refused in one sentence") {
    const auto [line, expected] = GENERATE(table<const char*, const char*>({
        {"-x", "unknown option '-x'"},
        {"--views packets", "unknown option '--views'"},
        {"--jobs", "requires a value: N"},
        {"-j 0", "expected 1 to 256"},
        {"-j 257", "expected 1 to 256"},
        {"-j two", "expected 1 to 256"},
        {"-j -1", "expected 1 to 256"},
        {"--memory 1GiB.", "expected a number with MiB or GiB"},
        {"--memory 100MiB", "an analysis needs 512MiB"},
        {"--help=yes", "option '--help' takes no value"},
        {"--interface=", "expected a name"},
        {"-i eth0 a.pcap", "exclude each other"},
        {"-f udp a.pcap", "needs --interface"},
    }));
    CAPTURE(line);
    const auto refused = parsed(line);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().contains(QLatin1String(expected)));
    CHECK_FALSE(refused.error().contains(QLatin1Char('\n')));
}

TEST_CASE("Help and version win over what else is wrong after them") {
    CHECK(parsed("-h -i eth0 a.pcap")->help);
    CHECK(parsed("a.pcap --version --nonsense")->version);
    const QString help = helpText(kViews);
    for (const char* word : {"--interface IF", "--capture-filter BPF", "-Y, --filter TEXT", "--view ID", "-j, --jobs N",
                             "--memory SIZE", "--version", "ladder", "Examples:", "setcap cap_net_raw+ep"})
        CHECK(help.contains(QLatin1String(word)));
    for (const QString& line : help.split(QLatin1Char('\n'))) CHECK(line.size() <= 120);
}
