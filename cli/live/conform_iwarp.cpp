// `conform --iwarp`: every probe of iWARP against a service of a device, a TCP connection of this machine each.
#include <cli/decoding.hpp>
#include <cli/live/conforming.hpp>
#include <cli/live/driving.hpp>
#include <cli/live/provenance.hpp>
#include <cli/message.hpp>
#include <cli/verdicts.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/iwarp/iwarp_suite.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>
#include <transport-replay/report/figures.hpp>

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>

namespace qps::cli {

using namespace transport::conformance;
using transport::duration_text;
using transport::live::ExchangeConnection;

namespace {

constexpr int kTickMs = 20;

class IwarpTester {
public:
    IwarpTester(const ConformingOptions& options, IwarpSuite& suite) : options_(options), suite_(suite) {}

    void run() {
        while (const IwarpProbe* probe = suite_.next()) {
            auto connection =
                ExchangeConnection::connect(transport::text(*options_.conform.device), *options_.conform.port);
            if (connection) play(*probe, *connection);
            else suite_.unreachable(connection.error().sentence);
        }
    }
    // Whether a connection was made, the first or any.
    [[nodiscard]] bool connected() const { return connected_; }

private:
    void play(const IwarpProbe& probe, ExchangeConnection& connection) {
        IwarpProbeRun run(probe, suite_.flow(), suite_.tallies(), clock_.now(),
                          options_.conform.patience.value_or(IwarpProbeRun::kPatience));
        while (!connection.finished()) {
            connection.drive(run);
            if (connection.finished() || run.over()) break;  // over: what could not be sent is not sent any more
            pollfd ready{connection.descriptor(),
                         static_cast<short>(connection.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
            (void)::poll(&ready, 1, kTickMs);
            run.tick(clock_.now());
            connection.speak(run);
        }
        run.tick(clock_.now());
        connected_ = connected_ || connection.connected();
        const bool alive = probe.check.empty();
        if (alive && connection.problem() && !run.over()) return suite_.unreachable(connection.problem()->sentence);
        run.closed();  // where it was lost
        ProbeOutcome outcome = run.outcome();
        if (!alive)
            remark("{:>3}/{}  {:<14}  {:<7} {}, {}\n", suite_.number() + 1, suite_.of(), name(outcome.verdict),
                   probe.check, probe.title, duration_text(outcome.took));
        suite_.take(std::move(outcome));
    }

    const ConformingOptions& options_;
    IwarpSuite& suite_;
    SteadyTime clock_;
    bool connected_ = false;
};

// "nothing listens at 10.0.0.1:7174: Connection refused".
std::string words_on_unreachable(const ConformOptions& conform, const std::string& silence) {
    constexpr std::string_view kBefore = "cannot connect: ";
    const std::string device = transport::text(*conform.device);
    const std::string place =
        fmt::format(fmt::runtime(device.contains(':') ? "[{}]:{}" : "{}:{}"), device, *conform.port);
    const std::string_view why =
        silence.starts_with(kBefore) ? std::string_view(silence).substr(kBefore.size()) : std::string_view(silence);
    const bool refused = why == std::error_code(ECONNREFUSED, std::generic_category()).message();
    return fmt::format("{} {}: {}", refused ? "nothing listens at" : "cannot connect to", place, why);
}

// What nobody asked for is no pass.
void say_unexamined(const VerdictCounts& counts) {
    const std::uint64_t open = counts[Verdict::not_applicable] + counts[Verdict::inconclusive];
    if (open == 0) return;
    remark(
        "qpscope: {} of {} {} a verdict; {} had nothing to examine or are undecided: without work of a consumer, a service sends few kinds of "
        "messages (judge a capture of such work with qpscope check)\n",
        counts.all() - open, transport::counted(counts.all(), "check"), counts.all() == 1 ? "has" : "have", open);
}

}  // namespace

ExitCode run_iwarp_suite(const ConformingOptions& options) {
    const ConformOptions& conform = options.conform;
    if (!conform.device) return fail({ExitCode::usage, "missing --dut: name the device under test"});
    if (!conform.port)
        return fail(
            {ExitCode::usage, "missing --port: name the TCP port of an RDMA service of the device (rping: 7174)"});
    const auto measures = read_measures(options.check);
    if (!measures) return ExitCode::usage;
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    const dissect::Instant begun = SteadyTime().now();
    IwarpSuite suite(*conform.device, *conform.port,
                     [&](const CheckRow& check) { return is_wanted_check(options.check, check); });
    IwarpTester tester(options, suite);
    tester.run();
    if (!tester.connected()) return fail({ExitCode::unreadable, words_on_unreachable(conform, suite.silence())});
    Report report = suite.report(measures->profile);
    std::vector<ReportFact> facts = provenance(options.command_line, options.wire, begun);
    report.facts.insert(report.facts.begin(), std::make_move_iterator(facts.begin()),
                        std::make_move_iterator(facts.end()));
    ExitCode code = write_report(options.check, options.output.color, report, *measures, output);
    say_unexamined(count(report));
    if (suite.died() && options.check.fail_on) code = worse(code, ExitCode::findings);
    // What it sent is judged all the same: a failure of it says more than that nothing could be asked.
    if (suite.never_answered() && code != ExitCode::findings) code = worse(code, ExitCode::unreadable);
    return worse(code, finish(output));
}

}  // namespace qps::cli
