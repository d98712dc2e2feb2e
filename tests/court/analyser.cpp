#include <tests/cli/process.hpp>
#include <tests/court/analyser.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

namespace qps::court {

namespace {

using Json = nlohmann::json;

std::array<ClaimedEnd, 2> ends_of(const Json& connection) {
    std::array<ClaimedEnd, 2> ends;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const Json& end = connection.at("ends").at(i);
        ends[i].address = end.at("address").get<std::string>();
        if (const Json& qp = end.at("qpn"); qp.is_number()) ends[i].qp = qp.get<std::uint32_t>();
    }
    return ends;
}

Severity severity_of(const std::string& name) {
    return name == "error" ? Severity::error : name == "warning" ? Severity::warning : Severity::note;
}

ClaimedValue value_of(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number()) return value.get<double>();
    if (value.is_array()) return value.get<std::vector<std::string>>();
    if (!value.is_object()) return value.get<std::string>();
    ClaimedEnd end{.address = value.at("address").get<std::string>(), .qp = {}};
    if (const Json& qp = value.at("qpn"); qp.is_number()) end.qp = qp.get<std::uint32_t>();
    return end;
}

Testimony read_testimony(const std::string& text) {
    Testimony testimony;
    const Json document = Json::parse(text);
    std::map<std::uint64_t, const Json*> connections;
    for (const Json& connection : document.at("connections"))
        connections[connection.at("uid").get<std::uint64_t>()] = &connection;
    for (const Json& finding : document.at("findings")) {
        Claim claim{.id = finding.at("id").get<std::string>(),
                    .severity = severity_of(finding.at("severity").get<std::string>()),
                    .party = finding.at("party").get<std::string>(),
                    .frames = finding.at("packets").get<std::vector<std::size_t>>(),
                    .count = finding.at("count").get<std::uint64_t>(),
                    .sentence = finding.at("summary").get<std::string>(),
                    .advice = finding.at("advice").get<std::string>()};
        for (const auto& [name, value] : finding.at("facts").items()) claim.facts.emplace(name, value_of(value));
        if (const Json& connection = finding.at("connection"); connection.is_number())
            claim.ends = ends_of(*connections.at(connection.get<std::uint64_t>()));
        testimony.claims.push_back(std::move(claim));
    }
    return testimony;
}

Testimony ask_about(const std::string& path, std::uint32_t gigabits) {
    std::vector<std::string> command{QPSCOPE_PROGRAM, "analyze", "-f", "json", "-j", "1", "--no-progress", path};
    if (gigabits != 0) command.insert(command.end() - 1, {"--link-speed", std::to_string(gigabits) + "G"});
    const test::Ending ending = test::run(command);
    constexpr int kDone = 0, kDamaged = 4, kBounded = 6;  // 6: there is more than was followed, which a finding says
    if (ending.code != kDone && ending.code != kDamaged && ending.code != kBounded)
        return {.claims = {}, .trouble = "the program ended with " + std::to_string(ending.code)};
    try {
        return read_testimony(ending.out);
    } catch (const std::exception& error) {
        return {.claims = {}, .trouble = error.what()};
    }
}

void keep(const std::filesystem::path& path, const Octets& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

std::vector<Testimony> ask(std::size_t count, const std::function<Recording(std::size_t)>& make,
                           const std::function<std::string(std::size_t)>& name) {
    const test::TemporaryFolder folder;
    const char* kept = std::getenv("QPSCOPE_COURT_KEEP");
    std::vector<Testimony> answers(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&](std::size_t worker) {
        for (std::size_t i = next++; i < count; i = next++) {
            const Recording recording = make(i);
            const Octets bytes = pcap_of(recording);
            if (kept != nullptr) keep(std::filesystem::path(kept) / (name(i) + ".pcap"), bytes);
            answers[i] = ask_about(folder.write(std::to_string(worker) + ".pcap", std::as_bytes(std::span(bytes))),
                                   recording.gigabits);
        }
    };
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker < std::max(2U, std::thread::hardware_concurrency()); ++worker)
        workers.emplace_back(work, worker);
    workers.clear();
    return answers;
}

std::vector<std::string> known_findings() {
    const test::Ending ending = test::run({QPSCOPE_PROGRAM, "findings", "--list", "-f", "json"});
    std::vector<std::string> ids;
    const Json document = Json::parse(ending.out);
    for (const Json& row : document.contains("findings") ? document.at("findings") : document)
        if (const std::string id = row.at("id"); !id.starts_with("case-")) ids.push_back(id);
    return ids;
}

}  // namespace qps::court
