// Headers of tar: POSIX.1-2001, ustar and pax.
#include <transport-replay/casework/archive_writer.hpp>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace qps::casework {

namespace {

constexpr std::size_t kTarBlock = 512, kTarName = 100;

void append_entry(std::string& out, std::string_view name, std::string_view bytes, char type) {
    std::string header(kTarBlock, '\0');
    const auto put = [&](std::size_t at, std::string_view text) {
        std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, name.substr(0, kTarName));
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", bytes.size()));
    put(136, "00000000000");
    put(148, "        ");
    header[156] = type;
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    out += header;
    out += bytes;
    out.append((kTarBlock - bytes.size() % kTarBlock) % kTarBlock, '\0');
}

// "LENGTH path=NAME\n", whose length counts its own digits.
std::string path_record(std::string_view name) {
    const std::size_t rest = name.size() + std::string_view(" path=\n").size();
    std::size_t length = rest + 1;
    while (length != rest + fmt::format("{}", length).size()) ++length;
    return fmt::format("{} path={}\n", length, name);
}

}  // namespace

void append_tar_file(std::string& out, std::string_view name, std::string_view bytes) {
    if (name.size() > kTarName) append_entry(out, "pax", path_record(name), 'x');
    append_entry(out, name, bytes, '0');
}

void append_tar_end(std::string& out) { out.append(2 * kTarBlock, '\0'); }

}  // namespace qps::casework
