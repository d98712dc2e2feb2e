// One capture read by both programs, packet by packet: every field that both know.
#include <tests/parity/comparison.hpp>

#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace qps::test {

namespace {

std::vector<std::string_view> rows_of(std::string_view text) {
    auto rows = split(text, '\n');
    rows.pop_back();
    return rows;
}

std::string shortened(std::string_view text) {
    constexpr std::size_t kMost = 60;
    return text.size() <= kMost ? std::string(text)
                                : fmt::format("{}... ({} characters)", text.substr(0, kMost), text.size());
}

}  // namespace

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A user's preferences for tshark must not count.
Ending run_tshark(std::vector<std::string> words) {
    words.insert(words.begin(), "tshark");
    return run(words,
               {.environment = {"HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "LC_ALL=C.UTF-8", "TZ=UTC"}});
}

std::string must(const Ending& ending, std::string_view what) {
    if (ending.code != 0)
        throw std::runtime_error(fmt::format("{} ended with code {}: {}", what, ending.code, ending.err));
    return ending.out;
}

void print(const std::string& field, const std::string& capture, Side side, const Difference& difference) {
    fmt::print("DIFFERENT ({}): {} in {}, {} packets, first in frame {} of {}\n    tshark  {}\n    qpscope {}\n",
               name(side), field, capture, difference.packets, difference.frame, difference.where,
               shortened(difference.theirs), shortened(difference.ours));
}

Comparison::Comparison(std::string qpscope)
    : qpscope_(std::move(qpscope)),
      fields_(shared_fields(must(run({qpscope_, "fields", "-f", "tsv"}), "qpscope fields"),
                            must(run_tshark({"-G", "fields"}), "tshark -G fields"))) {
    for (std::size_t i = 0; i < fields_.size(); ++i) index_[fields_[i].name] = i;
}

void Comparison::compare(const Capture& capture) {
    auto theirs = std::async(std::launch::async, [&] { return run_tshark(their_words(capture)); });
    const std::string our_text = must(run(our_words(capture)), "qpscope");
    const Ending their_ending = theirs.get();
    if (their_ending.code != 0) {
        tally_.differences[{"-", capture.name, Side::unreadable}].theirs = their_ending.err;
        return;
    }
    const std::string& their_text = their_ending.out;
    const auto our_rows = rows_of(our_text);
    const auto their_rows = rows_of(their_text);
    if (our_rows.size() != their_rows.size() + 1)  // ours have a heading
        throw std::runtime_error(
            fmt::format("{}: {} packets of ours, {} of theirs", capture.name, our_rows.size() - 1, their_rows.size()));
    for (std::size_t i = 0; i < their_rows.size(); ++i)
        compare_packet(capture, i + 1, split(our_rows[i + 1], '\t'), split(their_rows[i], '\t'));
}

// tshark has one column more: which protocols it saw.
std::vector<std::string> Comparison::their_words(const Capture& capture) const {
    std::vector<std::string> words{"-r", capture.path, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"};
    for (const SharedField& field : fields_) words.insert(words.end(), {"-e", field.name});
    words.insert(words.end(), {"-e", "frame.protocols"});
    return words;
}

std::vector<std::string> Comparison::our_words(const Capture& capture) const {
    std::vector<std::string> words{qpscope_, "packets", "-f", "tsv"};
    for (const SharedField& field : fields_) words.insert(words.end(), {"-e", field.name});
    words.push_back(capture.path);
    return words;
}

void Comparison::note(const Capture& capture, std::size_t frame, const std::string& field, std::string_view ours,
                      std::string_view theirs) {
    const Side side = theirs.empty() ? Side::ours : ours.empty() ? Side::theirs : Side::both;
    Difference& difference = tally_.differences[{field, capture.name, side}];
    if (difference.packets++ == 0) {
        difference.frame = frame;
        difference.where = capture.path;
        difference.ours = ours;
        difference.theirs = theirs;
    }
}

void Comparison::compare_packet(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                                const std::vector<std::string_view>& theirs) {
    if (ours.size() != fields_.size() || theirs.size() != fields_.size() + 1)
        throw std::runtime_error(fmt::format("{}: frame {} has not one cell for each field", capture.name, frame));
    ++tally_.packets;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (ours[i].empty() && theirs[i].empty()) continue;
        ++tally_.values;
        tally_.seen.insert(fields_[i].name);
        if (canonical_values(fields_[i], Writer::qpscope, ours[i]) !=
            canonical_values(fields_[i], Writer::tshark, theirs[i]))
            note(capture, frame, fields_[i].name, ours[i], theirs[i]);
    }
    compare_payload(capture, frame, ours, theirs);
}

// Where no dissector of theirs took the payload, they call it data, and leave the pad in it.
void Comparison::compare_payload(const Capture& capture, std::size_t frame, const std::vector<std::string_view>& ours,
                                 const std::vector<std::string_view>& theirs) {
    const std::string_view pad_count = ours[index_.at("infiniband.bth.padcnt")];
    if (!theirs.back().ends_with(":infiniband:data") || pad_count.empty()) return;
    ++tally_.payloads;
    constexpr std::size_t kDigits = 2;
    const std::string_view padded = theirs[index_.at("data.data")];
    const std::string_view payload = ours[index_.at("infiniband.payload")];
    const auto pad = static_cast<std::size_t>(pad_count.front() - '0');
    if (!padded.starts_with(payload) || padded.size() != payload.size() + kDigits * pad)
        note(capture, frame, "infiniband.payload", payload, padded);
}

}  // namespace qps::test
