// The control connection of GridFTP (GFD.20 and GFD.47, over RFC 959): lines of text on TCP port 2811 that set up
// transfers of data, which may go by RDMA. Named only: who is logged in and what is transferred is most often encrypted
// (RFC 2228: ENC, 633).
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/field.hpp>

#include <array>
#include <string_view>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind grid_ftp = kind_in(LayerFamily::grid_ftp, 0);
}  // namespace kind

inline constexpr std::uint16_t kGridFtpPort = 2811;

inline constexpr std::array kGridFtpFields{row::text("rdma.gridftp.line", "Command or reply", at(0), kToEnd)};
static_assert(tiles(kGridFtpFields, 0));

inline constexpr std::array kGridFtpHeaders{
    Header{kind::grid_ftp, "rdma.gridftp", "GridFTP control", 0, kGridFtpFields},
};

// How long the first line of that text is, without its end, where it is one of such a connection: a reply begins with
// three digits, a command with its name. 0 where not.
[[nodiscard]] constexpr std::size_t grid_ftp_line(Bytes text) {
    constexpr std::array<std::string_view, 48> kCommands{
        "ABOR", "ACCT", "ADAT", "ALLO", "APPE", "AUTH", "CCC",  "CDUP", "CKSM", "CLNT", "CONF", "CWD",
        "DCAU", "DELE", "ENC",  "EPRT", "EPSV", "ERET", "ESTO", "FEAT", "HELP", "LIST", "MDTM", "MIC",
        "MKD",  "MLSC", "MLSD", "MLST", "MODE", "NLST", "NOOP", "OPTS", "PASS", "PASV", "PBSZ", "PORT",
        "PROT", "QUIT", "REST", "RETR", "RMD",  "SBUF", "SITE", "SIZE", "SPAS", "SPOR", "STOR", "USER"};
    const auto character = [&](std::size_t i) { return i < text.size() ? static_cast<char>(text[i]) : '\0'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto upper = [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    };  // RFC 959 5.3: either case
    std::size_t length = 0;
    while (length < text.size() && character(length) >= ' ' && character(length) <= '~') ++length;
    const bool ends = length == text.size() || character(length) == '\r' || character(length) == '\n';
    if (!ends) return 0;
    if (is_digit(character(0)) && is_digit(character(1)) && is_digit(character(2)) &&
        (character(3) == ' ' || character(3) == '-'))
        return length;
    for (const std::string_view command : kCommands) {
        std::size_t same = 0;
        while (same < command.size() && upper(character(same)) == command[same]) ++same;
        if (same == command.size() && (same == length || character(same) == ' ')) return length;
    }
    return 0;
}

}  // namespace qps::dissect
