// The window reads a capture into an index, the command does not: both say the same of it, also where it takes a second
// reading to know the taps, or that no ICRC is right.
#include <tests/cli/process.hpp>
#include <tests/court/derive.hpp>
#include <tests/court/exhibits.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace qps::court {

namespace {

using Words = std::vector<std::string>;

Words of_window(const std::vector<std::string>& files, bool& again) {
    const transport::Indexing first{.files = files, .jobs = {1}, .spool_folder = "/tmp"};
    transport::CaptureIndex index;
    transport::Indexed outcome = build_index(index, first, {});
    const auto second = second_reading(first, outcome);
    again = second.has_value();
    transport::CaptureIndex better;
    if (second) {
        outcome = build_index(better, *second, {});
        CHECK_FALSE(second_reading(*second, outcome));
        CHECK(better.packets.size() == index.packets.size());
    }
    Words words;
    for (const transport::Finding& finding : outcome.timeline.findings)
        words.push_back(std::string(finding.id) + " " + finding.summary);
    return words;
}

Words of_command(const std::vector<std::string>& files) {
    Words command{QPSCOPE_PROGRAM, "findings", "-f", "json", "-j", "1", "--no-progress"};
    command.insert(command.end(), files.begin(), files.end());
    const test::Ending ending = test::run(command);
    Words words;
    const auto document = nlohmann::json::parse(ending.out);
    for (const auto& finding : document.contains("findings") ? document.at("findings") : document)
        words.push_back(finding.at("id").get<std::string>() + " " + finding.at("summary").get<std::string>());
    return words;
}

}  // namespace

TEST_CASE("the window says of taps and ICRCs what the command says") {
    const test::TemporaryFolder folder;
    const auto all = exhibits();
    const auto write = [&](const std::string& name, const Recording& recording) {
        const Octets bytes = pcap_of(recording);
        return folder.write(name, std::as_bytes(std::span(bytes)));
    };
    std::size_t read_twice = 0;
    for (const std::string_view name : {"loss_write", "write_8k", "corrupt_send", "simulated-4"}) {
        const auto exhibit = std::ranges::find(all, name, &Exhibit::name);
        REQUIRE(exhibit != all.end());
        for (const Derivation& derivation : derivations(false)) {
            if (!derivation.name.starts_with("taps") && !derivation.name.starts_with("mirror") &&
                derivation.name != "icrc-zero")
                continue;
            INFO(name << " " << derivation.name);
            const std::string file = write("one.pcap", derivation.derive(exhibit->recording));
            bool again = false;
            CHECK(of_window({file}, again) == of_command({file}));
            read_twice += again ? 1 : 0;
        }
        // A file for each host.
        INFO(name);
        Recording later = exhibit->recording;
        for (Record& record : later.records) record.time += 3'000'000;  // ns: of the other clock
        const Words files{write("a.pcap", exhibit->recording), write("b.pcap", later)};
        bool again = false;
        const Words window = of_window(files, again);
        CHECK(again);
        CHECK(window == of_command(files));
        CHECK(std::ranges::any_of(window, [](const std::string& words) {
            return words.starts_with("capture-duplicates 2 taps, each with a file");
        }));
        // Where the second file begins is no step of a clock.
        CHECK(std::ranges::none_of(window,
                                   [](const std::string& words) { return words.starts_with("clock-backwards"); }));
    }
    CHECK(read_twice >= 10);
}

}  // namespace qps::court
