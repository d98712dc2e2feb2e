#include <dissect/packet/render_value.hpp>
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

constexpr std::string_view kMagic{"\x89qpp\r\n\x1a\n",
                                  kMagicBytes};  // as PNG: a copy that changes ends of lines breaks it
constexpr std::size_t kDigest = 32;              // SHA-256
constexpr int kLevel = 3;                        // of Zstandard: fast

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

PartProblem damaged(std::string sentence) { return {.sentence = std::move(sentence), .damaged = true}; }

// Nothing that is packed is packed tighter than this, and nothing that is built takes more times its bytes: what says
// so is not believed. Parts of real captures are packed 5 to 10 times, and take 50 to 100 times as much when they are
// built.
constexpr std::uint64_t kTightest = 1024;
constexpr std::uint64_t kLargestBuilt = 4096;
bool is_believed(std::uint64_t size, std::uint64_t times, std::string_view packed) {
    return size / times <= packed.size();
}

constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;  // bytes that any part may have built

PartProblem contradicting_lengths() { return damaged("damaged: its lengths contradict each other"); }

std::expected<std::string, PartProblem> unpacked(std::string_view packed, std::uint64_t size, PartRoom& room) {
    if (!is_believed(size, kTightest, packed)) return std::unexpected(contradicting_lengths());
    if (size > room.left()) {
        room.refuse(size);
        return std::unexpected(PartProblem{.sentence = room.sentence(), .no_room = true});
    }
    std::string body(size, '\0');
    const std::size_t got = ZSTD_decompress(body.data(), body.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != size) return std::unexpected(damaged("damaged: it cannot be unpacked"));
    return body;
}

bool is_sound(const CapturePart& part) {
    if (part.origin.host.size() > kLongestHostName) return false;
    if (part.origin.of == 0 || part.origin.of > kMostParts || part.numbers.empty()) return false;
    for (std::size_t i = 0; i < part.numbers.size(); ++i)
        if (part.numbers[i] == 0 || part.numbers[i] > part.origin.of ||
            (i != 0 && part.numbers[i] <= part.numbers[i - 1]))
            return false;
    const std::size_t connections = part.report.begun.size();
    if (part.checks && !conformance::is_sound(*part.checks, connections)) return false;
    return std::ranges::is_sorted(part.report.begun) && names_nothing_else(part.report.lanes, connections);
}

// Each host once, none without a name beside others, and all with the same options: others are not joined.
bool is_sound(const AnalysisPart& part) {
    const auto host = [](const CapturePart& capture) -> const std::string& { return capture.origin.host; };
    for (std::size_t i = 1; i < part.captures.size(); ++i) {
        const CapturePart &before = part.captures[i - 1], &capture = part.captures[i];
        if (host(before).empty() || host(capture) <= host(before) || capture.origin.settings != before.origin.settings)
            return false;
    }
    return !part.captures.empty() &&
           std::ranges::all_of(part.captures, [](const CapturePart& capture) { return is_sound(capture); });
}

}  // namespace

bool AnalysisPart::damaged() const {
    return std::ranges::any_of(captures, [](const CapturePart& capture) { return capture.origin.damaged; });
}

// What is built is there once as it was read, and where it is joined or concluded for a while once more; a vector that
// grows has room for twice what is in it.
constexpr std::uint64_t kTimesBuilt = 4;

std::uint64_t PartRoom::left() const { return exceeded() ? most_ : most_ - std::min(most_, kept_ * kTimesBuilt); }

bool PartRoom::take(std::uint64_t unpacked, std::uint64_t built) {
    needed_ = std::max(needed_, (kept_ + waiting_ + built) * kTimesBuilt + unpacked);
    if (exceeded()) waiting_ += built;
    return !exceeded();
}

void PartRoom::refuse(std::uint64_t unpacked) {
    needed_ = std::max(needed_, std::max((kept_ + waiting_) * kTimesBuilt + unpacked, most_ + 1));
    waiting_ += unpacked;
    unseen_ = true;
}

std::string PartRoom::sentence() const {
    if (!exceeded()) return {};
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
    return fmt::format("needs {}{} MiB: raise --memory", unseen_ ? "more than " : "",
                       (needed_ + kMebibyte - 1) / kMebibyte);
}

bool begins_as_part(std::string_view bytes) { return bytes.starts_with(kMagic); }
PartProblem no_part() { return {.sentence = "not a part of an analysis: qpscope analyze --part writes them"}; }

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

std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version,
                                                   std::uint64_t most) {
    PartRoom room(most);
    return read_part(bytes, version, room);
}

std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version, PartRoom& room) {
    if (!begins_as_part(bytes)) return std::unexpected(no_part());
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
        return std::unexpected(PartProblem{
            .sentence = fmt::format("written by qpscope {}, whose parts {} cannot read: make it again", by, version)});
    if (digest_of(content) != bytes.substr(content.size()))
        return std::unexpected(damaged("damaged or cut off: its checksum is wrong"));
    if (head.failed() || !head.at_end()) return std::unexpected(damaged("damaged: its header cannot be read"));
    const std::string_view packed = rest.substr(length);
    const auto body = unpacked(packed, header.size, room);
    if (!body) return std::unexpected(body.error());
    const std::uint64_t built = parts::Measure(*body).of<AnalysisPart>();
    if (built > kSmall && !is_believed(built, kLargestBuilt, packed)) return std::unexpected(contradicting_lengths());
    if (!room.take(body->size(), built))
        return std::unexpected(PartProblem{.sentence = room.sentence(), .no_room = true});
    return read_part_body(*body);
}

std::expected<AnalysisPart, PartProblem> read_part_body(std::string_view body) {
    AnalysisPart part;
    parts::Reader reader(body);
    reader.take(part);
    if (reader.failed() || !reader.at_end() || !is_sound(part))
        return std::unexpected(damaged("damaged: what it says contradicts itself"));
    return part;
}

}  // namespace qps::transport
