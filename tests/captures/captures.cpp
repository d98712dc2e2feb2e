// Every sample capture of captures/catalogue.json, read by the library: cleanly, alike by any number of threads and,
// where it has an expect.json, with what that says. QPSCOPE_REWRITE_GOLDEN=1 writes expect.json instead.
#include <dissect/headers/derived.hpp>
#include <dissect/packet/census.hpp>
#include <dissect/packet/pipeline.hpp>
#include <dissect/ultra_ethernet/names.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/sample_captures.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using qps::tests::kSampleFolder;
using Json = nlohmann::ordered_json;

namespace {

Json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return Json::parse(file);
}

const Json& catalogue() {
    static const Json json = read_json(kSampleFolder / "catalogue.json");
    return json;
}

struct Reading {
    Census census;
    InputProblem problem;
    std::string format;
    std::string compression;
    std::string link_type;
};

Reading read(const std::filesystem::path& path, Jobs jobs) {
    auto file = CaptureFile::open(path.string());
    if (!file) return {{}, file.error(), {}, {}, {}};
    Reading reading;
    std::vector<Census> parts(jobs.slots());
    run({[&](Batch& batch) { return file->read(batch); },
         [&](std::size_t slot, const Batch& batch) {
             parts[slot] = {};
             Packet packet;
             for (const Frame& frame : batch.frames) {
                 decode(frame, packet);
                 count(parts[slot], packet);
             }
         },
         [&](std::size_t slot) {
             add(reading.census, parts[slot]);
             return true;
         }},
        jobs);
    reading.problem = file->problem();
    reading.format = name(file->format());
    reading.compression = name(file->compression());
    if (!file->interfaces().empty()) reading.link_type = name(file->interfaces()[0].link);
    return reading;
}

template <std::size_t N, class Name>
Json counts(const std::array<std::uint64_t, N>& numbers, Name name_of, std::size_t from = 0) {
    Json object = Json::object();
    for (std::size_t i = from; i < N; ++i)
        if (numbers[i] != 0) object[std::string(name_of(i))] = numbers[i];
    return object;
}

std::string opcode_name(std::size_t code) {
    const OpcodeRow& row = kOpcodes[code];
    return row.defined ? std::string(row.name()) : fmt::format("{}_0x{:02X}", row.name(), code);
}

// The names and values of `qpscope info -f json`.
Json document(const Reading& reading) {
    const Census& census = reading.census;
    Json json;
    json["format"] = reading.format;
    json["compression"] = reading.compression;
    json["link_type"] = reading.link_type;
    json["packets"] = census.packets;
    json["bytes"] = census.bytes;
    json["captured_bytes"] = census.captured_bytes;
    json["cut_packets"] = census.cut;
    if (census.time) {
        json["first_time_ns"] = std::to_underlying(census.time->first);
        json["last_time_ns"] = std::to_underlying(census.time->last);
    }
    json["backwards_timestamps"] = census.backwards;
    json["rdma_packets"] = census.packets - census.encapsulations[0];
    json["rdma_payload_bytes"] = census.payload_bytes;
    json["encapsulations"] =
        counts(census.encapsulations, [](std::size_t i) { return kEncapsulationNames[i].name; }, 1);
    for (const CrcStatus status : {CrcStatus::good, CrcStatus::bad, CrcStatus::not_checkable}) {
        const auto i = std::to_underlying(status);
        json["icrc"][std::string(kCrcStatusNames[i].name)] = census.icrc[i];
    }
    json["congestion_experienced"] = census.congestion_experienced;
    json["opcodes"] = counts(census.opcodes, opcode_name);
    for (std::size_t type = 0; type < census.ultra_ethernet.size(); ++type)
        if (census.ultra_ethernet[type] != 0)
            json["opcodes"]["UET_" + std::string(name_in(kPdsTypes, type))] = census.ultra_ethernet[type];
    if (const auto& types = census.ultra_ethernet;
        std::ranges::any_of(types, [](std::uint64_t count) { return count != 0; }))
        json["ultra_ethernet"] = {{"packets", std::accumulate(types.begin(), types.end(), std::uint64_t{0})},
                                  {"crc_good", census.ultra_ethernet_crc[1]},
                                  {"crc_undecided", census.ultra_ethernet_crc[0]}};
    json["other"] = counts(census.innermost, [](std::size_t i) { return header(static_cast<LayerKind>(i)).name; });
    json["faults"] = counts(census.faults, [](std::size_t i) { return kFaults[i].name; }, 1);
    return json;
}

bool rewriting() {
    const char* variable = std::getenv("QPSCOPE_REWRITE_GOLDEN");
    return variable != nullptr && *variable != '\0';
}

}  // namespace

TEST_CASE("every folder of captures is in the catalogue, once, with its file and a text") {
    std::set<std::string> listed;
    for (const Json& row : catalogue()["captures"]) {
        const auto name = row["case"].get<std::string>();
        INFO(name);
        CHECK(listed.insert(name).second);
        CHECK(std::filesystem::is_regular_file(kSampleFolder / name / row["file"].get<std::string>()));
        CHECK(!row["what"].get<std::string>().empty());
        CHECK(!row["made"].get<std::string>().empty());
        if (!row.contains("counts")) continue;
        const Json counts = read_json(kSampleFolder / name / row["counts"].get<std::string>());
        CHECK(!counts["counts"].empty());
        for (const auto& [kind, numbers] : counts["counts"].items())
            for (const auto& [what, number] : numbers.items()) CHECK(number.is_number_unsigned());
    }
    for (const auto& entry : std::filesystem::directory_iterator(kSampleFolder))
        if (entry.is_directory()) CHECK(listed.contains(entry.path().filename().string()));
}

TEST_CASE("every sample capture is read to its end, and has in it what is expected") {
    for (const Json& row : catalogue()["captures"]) {
        const auto folder = kSampleFolder / row["case"].get<std::string>();
        const auto path = folder / row["file"].get<std::string>();
        INFO(path);
        const Reading reading = read(path, {1});
        CHECK(reading.problem.sentence.empty());
        CHECK(reading.problem.kind == InputProblemKind::none);
        CHECK(reading.census.packets > 0);
        const Json found = document(reading);
        CHECK(document(read(path, {3})) == found);
        const auto expectations = folder / "expect.json";
        if (rewriting()) std::ofstream(expectations) << found.dump(2) << '\n';
        const Json expected = std::filesystem::exists(expectations) ? read_json(expectations) : Json::object();
        if (!expected.contains("faults")) CHECK(found["faults"].empty());
        for (const auto& [key, value] : expected.items()) {
            INFO(key << ": expected " << value << ", found " << found.value(key, Json()));
            CHECK((found.contains(key) && found[key] == value));
        }
    }
}
