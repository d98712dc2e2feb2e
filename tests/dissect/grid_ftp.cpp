// The control connection of GridFTP: its first line by name, and what is not one.
#include <dissect/headers/grid_ftp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

constexpr std::string_view kStart = "eth ip tcp";

Decoded told(std::string_view text, std::uint16_t from = 40'000, std::uint16_t to = 2811,
             std::size_t captured = std::dynamic_extent) {
    PacketSpec spec;
    for (const LayerKind kind : {LayerKind::ethernet, LayerKind::ipv4, LayerKind::tcp})
        spec.headers.push_back(HeaderSpec{kind});
    set(spec, "tcp.srcport", from);
    set(spec, "tcp.dstport", to);
    std::vector<std::byte> bytes = build(spec);
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    const std::size_t length = bytes.size() - 14;
    bytes[16] = static_cast<std::byte>(length >> 8U);
    bytes[17] = static_cast<std::byte>(length);
    return Decoded(bytes, LinkType::ethernet, captured);
}
bool is_named(const Decoded& decoded) { return decoded.layers().find("rdma.gridftp") != std::string::npos; }

}  // namespace

TEST_CASE("GridFTP: commands and replies of its control connection are named") {
    const Decoded reply = told("220 dtn1.example.org GridFTP Server 13.24 (gcc64) ready.\r\n", 2811, 40'000);
    CHECK(reply.layers().starts_with(kStart));
    CHECK(is_named(reply));
    CHECK(reply.plain("rdma.gridftp.line") == "220 dtn1.example.org GridFTP Server 13.24 (gcc64) ready.");
    CHECK(reply.line().find("GridFTP") != std::string::npos);
    CHECK(reply.line().find("line=220 dtn1") != std::string::npos);
    for (const std::string_view text : {"AUTH GSSAPI\r\n", "ENC FwMDAF4=\r\n", "SPAS\r\n", "RETR /data/one file\r\n",
                                        "211-Extensions supported:\r\n SPAS\r\n", "QUIT", "user x\r\n"})
        CHECK(is_named(told(text)));
}

TEST_CASE("GridFTP: what is not its control connection") {
    for (const std::string_view text : {"", "GET / HTTP/1.1\r\n", "MPA ID Req Frame", "SPASM\r\n", "2200 no\r\n", "22",
                                        "AUTH\x01 GSSAPI\r\n", "\x16\x03\x01", "ENCODE 1\r\n"})
        CHECK_FALSE(is_named(told(text)));
    CHECK_FALSE(is_named(told("AUTH GSSAPI\r\n", 40'000, 2810)));
    CHECK_FALSE(is_named(told("220 smtp.example.org ready\r\n", 25, 40'000)));
}

TEST_CASE("GridFTP: a line that the capture cut, byte by byte") {
    const std::string text = "220 ready\r\n";
    for (std::size_t captured = 54; captured <= 54 + text.size(); ++captured) {
        const Decoded decoded = told(text, 2811, 40'000, captured);
        CHECK(is_named(decoded) == (captured >= 58));
        if (is_named(decoded))
            CHECK(decoded.plain("rdma.gridftp.line") == text.substr(0, std::min<std::size_t>(9, captured - 54)));
    }
}
