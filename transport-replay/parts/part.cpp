#include <dissect/render_value.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/parts/archive.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/parts/part_header.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <zstd.h>

namespace qps::transport {

using dissect::printable;

namespace {

constexpr std::string_view kMagic{"\x89qpp\r\n\x1a\n", 8};  // as PNG: a copy that changes ends of lines breaks it
constexpr std::size_t kDigest = 32;  // SHA-256
constexpr int kLevel = 3;            // of Zstandard: fast

constexpr std::uint64_t kVersion = 6;

std::uint64_t shape() {
    static const std::uint64_t kShape = parts::shape_of(parts::type_of<AnalysisPart>());
    return kShape;
}

std::string digest_of(std::string_view bytes) {
    std::array<unsigned char, kDigest> digest{};
    unsigned length = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
    return {digest.begin(), digest.end()};
}

PartProblem damaged(std::string sentence) { return {std::move(sentence), true}; }

std::expected<std::string, PartProblem> unpacked(std::string_view packed, std::uint64_t size, std::size_t most) {
    if (size > most) return std::unexpected(PartProblem{fmt::format("needs {} MiB unpacked: raise --memory", size >> 20U)});
    // Nothing that is packed is packed tighter than this: what says so is not believed.
    constexpr std::uint64_t kTightest = 4096;
    if (size / kTightest > packed.size()) return std::unexpected(damaged("damaged: its lengths contradict each other"));
    std::string body(size, '\0');
    const std::size_t got = ZSTD_decompress(body.data(), body.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != size) return std::unexpected(damaged("damaged: it cannot be unpacked"));
    return body;
}

bool is_sound(const CapturePart& part) {
    if (part.origin.host.size() > kLongestHostName) return false;
    if (part.origin.of == 0 || part.origin.of > kMostParts || part.numbers.empty()) return false;
    for (std::size_t i = 0; i < part.numbers.size(); ++i)
        if (part.numbers[i] == 0 || part.numbers[i] > part.origin.of || (i != 0 && part.numbers[i] <= part.numbers[i - 1])) return false;
    const std::size_t connections = part.report.begun.size();
    if (part.checks && !conformance::is_sound(*part.checks, connections)) return false;
    return std::ranges::is_sorted(part.report.begun) && names_nothing_else(part.report.lanes, connections);
}

// Each host once, none without a name beside others, and all with the same options: others are not joined.
bool is_sound(const AnalysisPart& part) {
    const auto host = [](const CapturePart& capture) -> const std::string& { return capture.origin.host; };
    for (std::size_t i = 1; i < part.captures.size(); ++i) {
        const CapturePart &before = part.captures[i - 1], &capture = part.captures[i];
        if (host(before).empty() || host(capture) <= host(before) || capture.origin.settings != before.origin.settings) return false;
    }
    return !part.captures.empty() && std::ranges::all_of(part.captures, [](const CapturePart& capture) { return is_sound(capture); });
}

}  // namespace

bool AnalysisPart::damaged() const {
    return std::ranges::any_of(captures, [](const CapturePart& capture) { return capture.origin.damaged; });
}

std::string part_body(const AnalysisPart& part) {
    parts::Writer body;
    body.put(part);
    return body.take();
}

std::string write_part(const AnalysisPart& part, std::string_view version) {
    const std::string plain = part_body(part);
    parts::Writer head;
    head.put(PartHeader{.version = kVersion, .shape = shape(), .program = std::string(version), .size = plain.size()});
    std::string file(kMagic);
    const std::string header = head.take();
    file += static_cast<char>(header.size());
    file += header;
    const std::size_t begin = file.size();
    file.resize(begin + ZSTD_compressBound(plain.size()));
    file.resize(begin + ZSTD_compress(file.data() + begin, file.size() - begin, plain.data(), plain.size(), kLevel));
    file += digest_of(file);
    return file;
}

std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version, std::size_t most) {
    if (!bytes.starts_with(kMagic)) return std::unexpected(PartProblem{"not a part of an analysis: qpscope analyze --part writes them"});
    if (bytes.size() < kMagic.size() + 1 + kDigest) return std::unexpected(damaged("cut off"));
    const std::string_view content = bytes.substr(0, bytes.size() - kDigest);
    const auto length = static_cast<std::uint8_t>(content[kMagic.size()]);
    const std::string_view rest = content.substr(kMagic.size() + 1);
    if (length > rest.size()) return std::unexpected(damaged("cut off"));
    PartHeader header;
    parts::Reader head(rest.substr(0, length));
    head.take(header);
    const std::string by = printable(header.program);
    if (!head.failed() && (header.version != kVersion || header.shape != shape()))
        return std::unexpected(PartProblem{fmt::format("written by qpscope {}, whose parts {} cannot read: make it again", by, version)});
    if (digest_of(content) != bytes.substr(content.size())) return std::unexpected(damaged("damaged or cut off: its checksum is wrong"));
    if (head.failed() || !head.at_end()) return std::unexpected(damaged("damaged: its header cannot be read"));
    const auto body = unpacked(rest.substr(length), header.size, most);
    if (!body) return std::unexpected(body.error());
    return read_part_body(*body);
}

std::expected<AnalysisPart, PartProblem> read_part_body(std::string_view body) {
    AnalysisPart part;
    parts::Reader reader(body);
    reader.take(part);
    if (reader.failed() || !reader.at_end() || !is_sound(part)) return std::unexpected(damaged("damaged: what it says contradicts itself"));
    return part;
}

}  // namespace qps::transport
