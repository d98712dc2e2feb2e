// `conform --iwarp`: every probe of iWARP against a service of a device, a TCP connection of this machine each.
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/conformance/iwarp/iwarp_suite.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>
#include <transport-replay/report/figures.hpp>

#include "conforming.hpp"
#include "decoding.hpp"
#include "driving.hpp"
#include "message.hpp"
#include "provenance.hpp"
#include "verdicts.hpp"
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
    IwarpTester(const Options& options, IwarpSuite& suite) : options_(options), suite_(suite) {}

    void run() {
        while (const IwarpProbe* probe = suite_.next()) {
            auto connection = ExchangeConnection::connect(transport::text(*options_.conform.device), *options_.conform.port);
            if (connection) play(*probe, *connection);
            else suite_.unreachable(connection.error().sentence);
        }
    }

private:
    void play(const IwarpProbe& probe, ExchangeConnection& connection) {
        IwarpProbeRun run(probe, suite_.flow(), suite_.tallies(), clock_.now(), options_.conform.patience.value_or(IwarpProbeRun::kPatience));
        while (!connection.finished()) {
            connection.drive(run);
            if (connection.finished()) break;
            pollfd ready{connection.descriptor(), static_cast<short>(connection.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
            (void)::poll(&ready, 1, kTickMs);
            run.tick(clock_.now());
            connection.speak(run);
        }
        run.tick(clock_.now());
        const bool alive = probe.check.empty();
        if (alive && connection.problem() && !run.over()) return suite_.unreachable(connection.problem()->sentence);
        run.closed();  // where it was lost
        ProbeOutcome outcome = run.outcome();
        if (!alive && !options_.quiet)
            say("{:>3}/{}  {:<14}  {:<7} {}, {}\n", suite_.number() + 1, suite_.of(), name(outcome.verdict), probe.check, probe.title,
                duration_text(outcome.took));
        suite_.take(std::move(outcome));
    }

    const Options& options_;
    IwarpSuite& suite_;
    SteadyTime clock_;
};

// What nobody asked for is no pass.
void say_unexamined(const VerdictCounts& counts, bool quiet) {
    const std::uint64_t open = counts[Verdict::not_applicable] + counts[Verdict::inconclusive];
    if (open == 0 || quiet) return;
    say("qpscope: {} of {} have a verdict; {} had nothing to examine or are undecided: without work of a consumer, a service sends few kinds of "
        "messages (judge a capture of such work with qpscope check)\n",
        counts.all() - open, transport::counted(counts.all(), "check"), open);
}

}  // namespace

ExitCode run_iwarp_suite(const Options& options) {
    const ConformOptions& conform = options.conform;
    if (!conform.device) return fail({ExitCode::usage, "missing --dut: name the device under test"});
    if (!conform.port) return fail({ExitCode::usage, "missing --port: name the TCP port of an RDMA service of the device (rping: 7174)"});
    if (!conform.scripts.empty() || !conform.agent_host.empty() || !options.check.evidence.empty())
        return fail({ExitCode::usage, "--iwarp takes no --script, --agent or --evidence"});
    const auto measures = read_measures(options.check);
    if (!measures) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    const dissect::Instant begun = SteadyTime().now();
    IwarpSuite suite(*conform.device, *conform.port, [&](const CheckRow& check) { return is_wanted_check(options.check, check); });
    IwarpTester(options, suite).run();
    Report report = suite.report(measures->profile);
    std::vector<ReportFact> facts = provenance(options, begun);
    report.facts.insert(report.facts.begin(), std::make_move_iterator(facts.begin()), std::make_move_iterator(facts.end()));
    ExitCode code = write_report(options, report, *measures, output);
    say_unexamined(count(report), options.quiet);
    if (suite.died() && options.check.fail_on) code = worse(code, ExitCode::findings);
    if (suite.never_answered()) code = worse(code, ExitCode::unreadable);
    return worse(code, finish(output));
}

}  // namespace qps::cli
