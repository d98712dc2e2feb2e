// What front ends show of upper protocols: rows of operations and of their sums, rows of the index, JSON, what somebody
// said of connections before their packets came.
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/index/operation_row.hpp>
#include <transport-replay/index/ulp_knowledge.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/operations.hpp>
#include <transport-replay/ulp/operation_sums.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::transport;
using namespace qps::tests;
using qps::dissect::Duration;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;
using qps::dissect::UlpHint;

namespace {

// Asked at 1 s, its data from 2 to 5 ms after, its answer at 7 ms.
UlpOperation moved() {
    UlpOperation operation;
    operation.connection = ConnectionId{1};
    operation.protocol = UlpProtocol::nvme;
    operation.requester = End::b;
    operation.code = OperationCode{2};
    operation.outcome = OperationOutcome::done;
    operation.tag = 0x1'0000'0017;
    operation.status = 5;
    operation.subject = {1, UINT64_MAX};
    operation.written = 4096;
    operation.transfers = 3;
    operation.outstanding = 4;
    operation.asked = Instant{kSecond};
    operation.data_first = Instant{kSecond + 2 * kMillisecond};
    operation.data_last = Instant{kSecond + 5 * kMillisecond};
    operation.answered = Instant{kSecond + 7 * kMillisecond};
    operation.asked_frame = FrameIndex{10};
    operation.data_frame = FrameIndex{12};
    operation.answered_frame = FrameIndex{20};
    return operation;
}

template <class Row>
std::string cell(std::span<const TableColumn<Row>> columns, const Row& row, std::string_view heading) {
    const auto column = std::ranges::find(columns, heading, &TableColumn<Row>::heading);
    REQUIRE(column != columns.end());
    return shown_text(*column, row);
}

UlpConversation& speaks(Timeline& timeline, std::uint8_t certainty) {
    UlpConversation& conversation = timeline.ulp.conversations.emplace_back();
    conversation.connection = ConnectionId{1};
    conversation.protocol = UlpProtocol::nvme;
    conversation.certainty = certainty;
    conversation.active = End::b;
    return conversation;
}

UlpMessage message(const std::vector<std::byte>& bytes, std::uint64_t frame) {
    UlpMessage one;
    one.connection = ConnectionId{1};
    one.bytes = bytes;
    one.length = bytes.size();
    one.first_frame = one.last_frame = FrameIndex{frame};
    return one;
}

UlpReport report_with(UlpHints hints) {
    UlpTracker ulp(std::move(hints));
    Tracker tracker(false);
    const std::vector<std::byte> bytes(64, std::byte{0x5a});
    for (std::uint64_t frame = 1; frame < 40; ++frame) ulp.deliver(message(bytes, frame), tracker, {});
    return ulp.finish({}, {});
}

}  // namespace

TEST_CASE("an operation as a row has its three parts, and none where no data moved") {
    const Endpoint from{host(1), {}}, to{host(2), {}};
    const UlpOperation operation = moved();
    const ReportedOperation row{operation, from, to, Instant{}};
    CHECK(cell(operation_columns(), row, "time") == "1.000000");
    CHECK(cell(operation_columns(), row, "latency") == "7 ms");
    CHECK(cell(operation_columns(), row, "wait") == "2 ms");
    CHECK(cell(operation_columns(), row, "transfer") == "3 ms");
    CHECK(cell(operation_columns(), row, "complete") == "2 ms");
    CHECK(cell(operation_columns(), row, "bytes") == "4096");
    CHECK(cell(operation_columns(), row, "answer") == "20");
    CHECK(tone_of(operation) == Tone::plain);

    UlpOperation waits = operation;
    waits.outcome = OperationOutcome::open;
    waits.data_frame = waits.answered_frame = FrameIndex{};
    const ReportedOperation open{waits, from, to, Instant{}};
    for (const char* heading : {"latency", "wait", "transfer", "complete", "answer"})
        CHECK(cell(operation_columns(), open, heading).empty());
    CHECK(cell(operation_columns(), open, "outcome") == "open");
    CHECK(tone_of(waits) == Tone::warning);
    CHECK(is_bad(waits));
    waits.one_way = true;
    waits.outcome = OperationOutcome::done;
    CHECK(!is_bad(waits));
}

TEST_CASE("columns of operations are well formed") {
    const auto check = [](auto columns) {
        std::set<std::string_view> names, headings;
        for (const auto& column : columns) {
            INFO(column.name << " " << column.heading);
            CHECK(!(column.name.empty() && column.heading.empty()));
            CHECK((column.name.empty() || names.insert(column.name).second));
            CHECK((column.heading.empty() || headings.insert(column.heading).second));
            CHECK(column.value != nullptr);
        }
    };
    check(operation_columns());
    check(operation_sum_columns());
}

TEST_CASE("sums of operations have percentiles that no operation exceeded, and rates of the time they took") {
    std::vector<OperationSum> sums;
    for (int i = 1; i <= 100; ++i) {
        UlpOperation operation = moved();
        operation.answered = Instant{kSecond + 5 * kMillisecond + i * 10 * kMicrosecond};
        add(sums, operation);
    }
    UlpOperation failed = moved();
    failed.outcome = OperationOutcome::failed;
    add(sums, failed);
    UlpOperation open = moved();
    open.outcome = OperationOutcome::open;
    open.answered_frame = FrameIndex{};
    add(sums, open);
    REQUIRE(sums.size() == 1);
    const ReportedSum row{sums[0], Duration{2 * kSecond}};
    CHECK(cell(operation_sum_columns(), row, "count") == "102");
    CHECK(cell(operation_sum_columns(), row, "failed") == "1");
    CHECK(cell(operation_sum_columns(), row, "unanswered") == "1");
    CHECK(cell(operation_sum_columns(), row, "rate") == "51/s");
    CHECK(cell(operation_sum_columns(), row, "max") == "7 ms");
    CHECK(cell(operation_sum_columns(), row, "transfer") == "3 ms");
    CHECK(percentile_of(sums[0], 100) == Duration{7 * kMillisecond});
    CHECK(percentile_of(sums[0], 99) == Duration{6 * kMillisecond});  // the 100th of 101
    CHECK(percentile_of(sums[0], 98) == Duration{5'990'000});
    CHECK(percentile_of(sums[0], 50) > Duration{5 * kMillisecond});
    CHECK(percentile_of(sums[0], 50) < Duration{6'500'000});
    CHECK(sums[0].slowest.size() == kSlowestKept);
    CHECK(sums[0].slowest.front().outcome == OperationOutcome::failed);
    CHECK(tone_of(sums[0]) == Tone::error);
}

TEST_CASE("a row of the index gives the operation back") {
    const UlpOperation was = moved();
    const UlpOperation is = OperationRow(was).restored();
    CHECK(is.connection == was.connection);
    CHECK(is.protocol == was.protocol);
    CHECK(is.requester == was.requester);
    CHECK(is.code == was.code);
    CHECK(is.outcome == was.outcome);
    CHECK(is.tag == was.tag);
    CHECK(is.status == was.status);
    CHECK(is.subject == was.subject);
    CHECK(moved_bytes(is) == moved_bytes(was));
    CHECK(is.transfers == was.transfers);
    CHECK(is.outstanding == was.outstanding);
    CHECK(is.asked == was.asked);
    CHECK(is.data_first == was.data_first);
    CHECK(is.data_last == was.data_last);
    CHECK(is.answered == was.answered);
    CHECK(is.asked_frame == was.asked_frame);
    CHECK(is.data_frame == was.data_frame);
    CHECK(is.answered_frame == was.answered_frame);
    CHECK(OperationRow(was).last_frame() == FrameIndex{20});

    UlpOperation open = was;
    open.outcome = OperationOutcome::open;
    open.data_frame = open.answered_frame = FrameIndex{};
    const UlpOperation again = OperationRow(open).restored();
    CHECK(!again.has_answer());
    CHECK(!again.has_data());
    CHECK(OperationRow(open).last_frame() == FrameIndex{10});

    UlpOperation hostile = was;  // clocks that jump
    hostile.answered = Instant{INT64_MIN};
    hostile.data_last = Instant{INT64_MAX};
    hostile.outstanding = UINT32_MAX;
    hostile.written = UINT64_MAX;
    const UlpOperation bounded = OperationRow(hostile).restored();
    CHECK(bounded.answered == bounded.asked);
    CHECK(bounded.outstanding == 0xffffff);
    CHECK(bounded.written == UINT32_MAX);
}

TEST_CASE("a label of a message comes back as it was") {
    const UlpLabel label{UlpLabel::Part::answer, UlpProtocol::lnet, OperationCode{0xffff}, UINT64_MAX};
    const LabelRow row(0xff'ffff'ffff, label);
    CHECK(row.message() == 0xff'ffff'ffff);
    CHECK(row.label().part == label.part);
    CHECK(row.label().protocol == label.protocol);
    CHECK(row.label().code == label.code);
    CHECK(row.label().tag == label.tag);
}

TEST_CASE("what connections speak is told of both ends, and taken back") {
    UlpKnowledge knowledge;
    const ConnectionId one{7};
    CHECK(knowledge.hint(one, End::a).protocol == UlpProtocol::none);
    knowledge.learn(one, End::b, {UlpProtocol::iser, true});
    CHECK(knowledge.hint(one, End::b).protocol == UlpProtocol::iser);
    CHECK(knowledge.hint(one, End::b).from_active);
    CHECK(!knowledge.hint(one, End::a).from_active);
    CHECK(knowledge.hint(ConnectionId{8}, End::a).protocol == UlpProtocol::none);
    knowledge.learn(one, End::a, {});
    CHECK(knowledge.hint(one, End::b).protocol == UlpProtocol::none);
    knowledge.learn(ConnectionId{UINT32_MAX}, End::a, {UlpProtocol::iser, true});
    CHECK(knowledge.hint(ConnectionId{UINT32_MAX}, End::a).protocol == UlpProtocol::none);
}

TEST_CASE("the user's word decides what a connection speaks, and that it speaks nothing") {
    const UlpReport said = report_with({{1, UlpProtocol::nvme}});
    REQUIRE(said.conversations.size() == 1);
    CHECK(said.conversations[0].basis == UlpBasis::user);
    CHECK(said.conversations[0].certainty == 100);
    CHECK(said.conversations[0].messages == 39);
    CHECK(report_with({{1, UlpProtocol::none}}).conversations.empty());
    CHECK(report_with({{2, UlpProtocol::nvme}}).conversations.empty());
}

TEST_CASE("what an earlier pass found keeps how it was found, and is not given up") {
    Timeline timeline = healthy();
    add_connection(timeline);
    speaks(timeline, 60).basis = UlpBasis::content;
    const UlpHints whole = hints_of(timeline, true);
    REQUIRE(whole.contains(1));
    CHECK(whole.at(1).basis == UlpBasis::content);
    CHECK(whole.at(1).certainty == 60);
    CHECK(whole.at(1).active == End::b);
    CHECK(whole.at(1).settled);
    REQUIRE(whole.contains(2));
    CHECK(whole.at(2).protocol == UlpProtocol::none);
    const UlpHints part = hints_of(timeline, false);
    CHECK(!part.contains(2));
    CHECK(!part.at(1).settled);

    const UlpReport again = report_with(whole);
    REQUIRE(again.conversations.size() == 1);
    CHECK(again.conversations[0].basis == UlpBasis::content);
    CHECK(again.conversations[0].certainty == 60);
    CHECK(again.conversations[0].active == End::b);
}

TEST_CASE("a connection says what it was used for, and how that is known where it is a guess") {
    Timeline timeline = healthy();
    const UlpConversation& sure = speaks(timeline, 100);
    const ConnectionRow row{timeline.connections[0], false, {}, &sure};
    CHECK(cell(connection_columns(), row, "protocol") == "nvme");
    UlpConversation guess = sure;
    guess.certainty = 60;
    const ConnectionRow doubtful{timeline.connections[0], false, {}, &guess};
    CHECK(cell(connection_columns(), doubtful, "protocol") == "nvme (by content, 60 %)");
    const ConnectionRow unknown{timeline.connections[0]};
    CHECK(cell(connection_columns(), unknown, "protocol").empty());
}

TEST_CASE("JSON has what connections carried") {
    Timeline timeline = healthy();
    UlpConversation& conversation = speaks(timeline, 100);
    conversation.note("host NQN", "nqn.2014-08.org.nvmexpress:uuid:\"x\"");
    add(timeline.ulp.sums, moved());
    timeline.ulp.failures.push_back({ConnectionId{1}, UlpProtocol::nvme, OperationCode{2}, 7, 3, {FrameIndex{9}}});
    UlpEvent event;
    event.kind = UlpEventKind::refused;
    event.protocol = UlpProtocol::nvme;
    event.cm_attempt = 0;
    event.words = "no";
    timeline.ulp.add(event);
    std::string text;
    const std::vector<std::string> inputs{"a.pcap"};
    write_report(timeline, OutputFormat::json, inputs, {}, [&](std::string_view piece) { text += piece; });
    const auto json = nlohmann::json::parse(text);
    REQUIRE(json["conversations"].size() == 1);
    CHECK(json["conversations"][0]["protocol"] == "nvme");
    CHECK(json["conversations"][0]["active"] == "b");
    CHECK(json["conversations"][0]["facts"]["host NQN"] == "nqn.2014-08.org.nvmexpress:uuid:\"x\"");
    REQUIRE(json["operations"].size() == 1);
    CHECK(json["operations"][0]["count"] == 1);
    CHECK(json["operations"][0]["wait"]["mean_ns"] == 2 * kMillisecond);
    CHECK(json["operations"][0]["slowest"][0]["latency_ns"] == 7 * kMillisecond);
    CHECK(json["operation_failures"][0]["count"] == 3);
    CHECK(json["upper_events"][0]["event"] == "refused");
    CHECK(json["upper_events"][0]["connection"].is_null());
}
