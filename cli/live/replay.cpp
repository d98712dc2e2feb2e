// `replay`: recorded frames back onto a wire, at their times, or into a capture; rewritten by rules.
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/held_inputs.hpp>
#include <cli/live/live_commands.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/live/replaying.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/live/device/capture_tap.hpp>
#include <transport-replay/live/device/null_device.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>
#include <transport-replay/live/device/xdp_device.hpp>
#include <transport-replay/live/replay/replayer.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport::live;
using transport::counted;

namespace {

constexpr std::int64_t kSpin = 80'000;  // nanoseconds before its time from which on we wait for a frame awake

// The time of day at the start, and how long that is ago by a clock that nobody sets.
class ReplayClock {
public:
    [[nodiscard]] Instant now() const { return Instant{began_ + since_start()}; }
    [[nodiscard]] std::int64_t since_start() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - start_).count();
    }

private:
    using Steady = std::chrono::steady_clock;
    Steady::time_point start_ = Steady::now();
    std::int64_t began_ =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
};

// Sleeps at most so long; a signal ends it.
void rest(std::int64_t nanoseconds) {
    constexpr std::int64_t kLongest = 500'000'000;  // so that progress and an interrupt that came before are seen
    nanoseconds = std::min(nanoseconds, kLongest);
    const timespec time{nanoseconds / kNanosecondsPerSecond, nanoseconds % kNanosecondsPerSecond};
    nanosleep(&time, nullptr);
}

std::optional<Rewriter> rewriter_of(const std::vector<std::string>& texts) {
    std::vector<RewriteRule> rules;
    for (const std::string& text : texts) {
        auto rule = parse_rewrite(text);
        if (!rule || rules.size() == kMaxRewriteRules) {
            say("qpscope: {}\n", rule ? fmt::format("more than {} rewrite rules", kMaxRewriteRules) : rule.error());
            return std::nullopt;
        }
        rules.push_back(*rule);
    }
    return Rewriter(rules);
}

// Frames of the inputs to the replayer, one after the other.
class Replay {
public:
    Replay(const ReplayOptions& options, Replayer replayer, Filter filter)
        : options_(options),
          replayer_(std::move(replayer)),
          filter_(std::move(filter)),
          real_(!options.wire.interface.empty()) {
        if (filter_.needs_annotation()) {
            known_ = known_settings(options.reading.input, options.reading.analysis, look_ahead_for(filter_));
            annotator_.emplace(known_);
        }
        takes_all_ = !options.reading.filter.chooses();
    }

    [[nodiscard]] const Replayer& replayer() const { return replayer_; }
    [[nodiscard]] std::int64_t elapsed() const { return clock_.since_start(); }
    [[nodiscard]] bool full() const {
        return options_.reading.input.count != 0 && taken_ >= options_.reading.input.count;
    }
    [[nodiscard]] bool broken() const { return replayer_.device().problem().has_value(); }
    [[nodiscard]] std::uint64_t loops() const { return loops_; }
    // The next loop; a recording of the reconstruction begins anew with it.
    void begin_again() {
        ++loops_;
        replayer_.begin_again();
        if (annotator_) annotator_.emplace(known_);
    }

    // False: no more is wanted.
    bool run(Input& input, Progress& progress) {
        while (!full() && !broken() && input.read(batch_)) {
            const auto show_progress = [&] {
                if (const CaptureFile* file = input.file())
                    progress.update(file->bytes_read(), file->size(), replayer_.counts().frames);
            };
            for (const Frame& frame : batch_.frames)
                if (chosen(frame) && !send(frame, show_progress)) break;
            replayer_.flush(now_);
            show_progress();
        }
        return !full() && !broken() && !interrupted();
    }

    // What waits in the device goes, within patience.
    void finish() {
        constexpr int kTries = 1000;
        for (int i = 0; i < kTries && real_; ++i) {
            replayer_.flush(clock_.now());
            const auto& counts = replayer_.device().counts();
            if (counts.sent + counts.refused >= replayer_.counts().frames) break;
            rest(kSpin);
        }
    }

private:
    bool chosen(const Frame& frame) {
        if (takes_all_) return true;
        decode(frame, packet_);
        if (annotator_) annotator_->annotate(packet_);
        return filter_.matches(packet_);
    }

    // Asked for the time before a batch of those that go as fast as they can, and before each frame that has a time of
    // its own.
    template <class ShowProgress> bool send(const Frame& frame, const ShowProgress& show_progress) {
        if (full() || interrupted()) return false;
        ++taken_;
        if (!options_.fast || taken_ % kDeviceBatch == 0) tick();
        follow(frame);
        while (!replayer_.offer(frame, now_)) {
            replayer_.flush(now_);
            if (interrupted() || broken()) return false;
            show_progress();
            wait();
        }
        return true;
    }

    void tick() {
        if (real_) now_ = clock_.now();
    }

    // Without a wire it is the time that the recording says: the first frame keeps its own, and all do where none is
    // waited for.
    void follow(const Frame& frame) {
        if (real_ || !frame.has_time) return;
        if (taken_ == 1) now_ = frame.time;
        else if (options_.fast) now_ = std::max(now_, frame.time);
    }

    // Until the replayer wants to be asked again. Without a wire time passes by itself.
    void wait() {
        const auto until = static_cast<std::int64_t>(replayer_.poll_at());
        if (!real_) {
            now_ = std::max(now_, Instant{until});
            return;
        }
        tick();
        if (const std::int64_t left = until - static_cast<std::int64_t>(now_); left > kSpin) rest(left - kSpin);
        tick();
    }

    const ReplayOptions& options_;
    Replayer replayer_;
    Filter filter_;
    bool takes_all_ = true;
    bool real_;
    transport::AnalysisSettings known_;  // of the annotator
    std::optional<transport::Annotator> annotator_;
    ReplayClock clock_;
    Instant now_ = clock_.now();
    Batch batch_;
    Packet packet_;
    std::uint64_t taken_ = 0;
    std::uint64_t loops_ = 1;
};

// What happened, for people.
std::string summary(const WireOptions& wire, const Replay& replay) {
    const ReplayCounts& counts = replay.replayer().counts();
    const DeviceCounts device = replay.replayer().device().counts();
    const double seconds =
        std::max(static_cast<double>(replay.elapsed()) / static_cast<double>(kNanosecondsPerSecond), 1e-9);
    std::string text;
    if (wire.interface.empty()) {
        text = fmt::format("{} written to {}", counted(device.sent, "frame"), wire.capture);
    } else {
        text = fmt::format("{} with {} sent by {} in {:.3f} s: {:.0f} frames/s, {}", counted(device.sent, "frame"),
                           transport::bytes_text(device.sent_bytes), wire.interface, seconds,
                           static_cast<double>(device.sent) / seconds,
                           transport::rate_text(static_cast<double>(device.sent_bytes) * 8 / seconds));
    }
    if (replay.loops() > 1) text += fmt::format("; {} loops", replay.loops());
    if (counts.late > 0)
        text +=
            fmt::format("; {} late by 1 ms or more, {} at worst", counts.late, transport::duration_text(counts.latest));
    text += '\n';
    const auto left_out = [&](std::uint64_t number, std::string_view why) {
        if (number > 0) text += fmt::format("left out: {} {}\n", counted(number, "frame"), why);
    };
    left_out(counts.cut, "truncated in the capture");
    left_out(counts.foreign, "not Ethernet");
    left_out(counts.misfits, "too long for the interface, or too short for Ethernet");
    left_out(device.refused, "refused by the interface");
    return text;
}

std::string document(const Replay& replay) {
    const ReplayCounts& counts = replay.replayer().counts();
    const DeviceCounts device = replay.replayer().device().counts();
    std::string out;
    transport::Document json(OutputFormat::json, out, JsonLayout::indented);
    json.open();
    json.add("schema", transport::kSchema);
    json.add("frames", device.sent);
    json.add("bytes", device.sent_bytes);
    json.add("elapsed_ns", replay.elapsed());
    json.add("loops", replay.loops());
    json.add("late_frames", counts.late);
    json.add("max_late_ns", counts.latest);
    json.open("left_out");
    json.add("cut", counts.cut);
    json.add("not_ethernet", counts.foreign);
    json.add("wrong_length", counts.misfits);
    json.add("refused", device.refused);
    json.close();
    json.close();
    return out + "\n";
}

ExitCode fail_replay(const std::string& name, const std::string& sentence, ExitCode code) {
    say("qpscope: {}: {}\n", name, sentence);
    return code;
}

// What is wrong with the options together; empty where nothing is.
std::string_view replay_contradiction(const ReplayOptions& options) {
    const std::vector<std::string>& files = options.reading.input.files;
    if (options.conversation.any()) return "missing --as: choose the end to play, requester or responder";
    if (files.empty()) return "missing input: name a capture file, or - for standard input";
    if (options.wire.interface.empty() && options.wire.capture.empty())
        return "missing output: send with -i INTERFACE, or write with -w FILE";
    const bool stream = std::ranges::find(files, "-") != files.end();
    if (options.loops != 1 && stream) return "--loop needs files: standard input can be read only once";
    if (options.wire.via == Via::udp) return "--via udp sends datagrams, not recorded frames: use ring, xdp or pcap";
    if (options.loops == 0 && options.wire.interface.empty()) return "--loop 0 needs -i: a file would grow without end";
    if (options.output.format != OutputFormat::table && options.output.format != OutputFormat::json)
        return "the summary is a table or json: use -f table or -f json";
    if (options.wire.capture == "-" && options.output.path.empty())
        return "-w - takes standard output: write the summary to a file with -o FILE";
    return {};
}

std::expected<Device, Problem> sending_device(const WireOptions& wire) {
    if (wire.via == Via::xdp) return open_xdp_device({.interface = wire.interface, .receive = false});
    if (wire.via == Via::pcap) return open_pcap_device(wire.interface, "");
    return open_packet_ring({.interface = wire.interface, .receive = false});
}

ExitCode run_replay(const ReplayOptions& options) {
    const auto& [inputs, chosen, analysis] = options.reading;
    const WireOptions& wire = options.wire;
    if (options.conversation.part) return run_replay_conversation(options);
    if (const std::string_view wrong = replay_contradiction(options); !wrong.empty()) {
        say("Try 'qpscope replay --help'.\nqpscope: {}\n", wrong);
        return ExitCode::usage;
    }
    auto filter = compile_filter(chosen);
    auto rewriter = rewriter_of(options.rewrites);
    if (!filter || !rewriter) return ExitCode::usage;
    Output output(options.output.path, inputs.files);
    if (!output.ok()) return finish(output);

    std::optional<SavedCapture> saved;
    if (!wire.capture.empty()) {
        auto opened = SavedCapture::open(wire.capture, inputs.files);
        if (!opened)
            return fail_replay(opened.error().file, opened.error().sentence,
                               is_one_of(wire.capture, inputs.files) ? ExitCode::usage : ExitCode::output_failed);
        saved.emplace(std::move(*opened));
    }
    Device device = NullDevice();
    if (!wire.interface.empty()) {
        auto opened = sending_device(wire);
        if (!opened) return fail_replay(opened.error().device, opened.error().sentence, ExitCode::output_failed);
        device = std::move(*opened);
    }
    if (saved) device = CaptureTap(std::move(device), [&saved](const Frame& frame) { return saved->write(frame); });

    if (wire.interface.empty()) {  // captures are read and written, no more: as the commands that only read
        InputOptions reading = inputs;
        reading.confinement.wanted = true;
        static_cast<void>(HeldInputs::of(reading));
    }
    Replay replay(options,
                  Replayer(std::move(device), {.speed = options.speed, .fast = options.fast}, std::move(*rewriter)),
                  std::move(*filter));
    ExitCode code = ExitCode::done;
    for (bool more = true; more;) {
        code = worse(code, for_each_input(inputs, [&](Input& input, Progress& progress) {
                         more = replay.run(input, progress) && more;
                         return replay.broken() ? ExitCode::output_failed : ExitCode::done;
                     }));
        more = more && code == ExitCode::done && (options.loops == 0 || replay.loops() < options.loops);
        if (more) replay.begin_again();
    }
    replay.finish();
    if (const auto problem = replay.replayer().device().problem())
        code = worse(code, fail_replay(problem->device, problem->sentence, ExitCode::output_failed));
    const bool any = code == ExitCode::done ||
                     replay.replayer().counts().frames != 0;  // else nothing takes the place of what is there
    if (saved && any && !replay.broken())
        if (const auto committed = saved->commit(); !committed)
            code =
                worse(code, fail_replay(committed.error().file, committed.error().sentence, ExitCode::output_failed));
    if (any && (!is_quiet() || options.output.format == OutputFormat::json))
        output.write(options.output.format == OutputFormat::json ? document(replay) : summary(wire, replay));
    return worse(code, finish(output, any));
}

// "0.5", "10": a factor of time.
std::string check_speed(const std::string& text) {
    const auto factor = dissect::parse_real(text);
    if (factor && factor->second.empty() && factor->first >= kSlowest && factor->first <= kFastest) return {};
    return fmt::format("invalid speed '{}': expected a number such as 2.5, or use --fast", text);
}

}  // namespace

void ReplayOptions::add(OptionTable& table) {
    auto& [input, filter, analysis] = reading;
    table.under(headings::kInput);
    table
        .add("files", "", input.files,
             "Capture files, one after the other: pcap or pcapng, plain, .gz or .zst; - for standard input")
        .is(PathUse::capture);
    table.add("-r,--read", "FILE", input.files, "Read this capture file").is(PathUse::capture);
    table.under(headings::kWire)
        .add("-i,--interface", "NAME", wire.interface, "Send by this Ethernet interface (needs root or CAP_NET_RAW)");
    table.under(headings::kOutput)
        .add("-w,--write", "FILE", wire.capture, "Write the frames to FILE; without -i, instead of sending them")
        .is(PathUse::written);
    table.under("Pace");
    table.add("--speed", "FACTOR", speed, "Send at FACTOR times the recorded speed (default: 1)").checked(check_speed);
    table.flag("--fast", fast, "Send as fast as possible, ignoring recorded times").not_with("--speed");
    table.add("--loop", "N", loops, "Send N times; 0: until interrupted (default: 1)").checked(check_count);
    table.under(headings::kOutput).add("--rewrite", "RULE", rewrites, "Rewrite frames by this rule (see below)").each();
    table.under(headings::kInput)
        .add("-F,--capture-filter", "EXPRESSION", input.capture_filter,
             "Keep only frames that match this libpcap (BPF) expression");
    filter.add_text(table.under(headings::kFilter), "Keep only packets that match this display filter");
    table.under(headings::kInput).add("-c,--count", "N", input.count, "Stop after N frames").checked(check_count);
    input.add_progress(table);
    conversation.add(table);
    analysis.add_memory(table);
    wire.add_settings(table);
    output.add_format(table);
    output.add_path(table);
    table.check([this, &table] {
        reading.input.confine(table);
        return std::string();
    });
}

const Command kReplayCommand = wire_command(
    "replay",
    "  qpscope replay -i eth1 trace.pcap                          # as it was recorded, frame by frame\n"
    "  qpscope replay -i eth1 --fast --loop 10 -Y 'infiniband.bth' trace.pcap\n"
    "  qpscope replay -i eth1 --speed 0.5 --rewrite 'ip 10.0.0.1=10.77.0.11' --rewrite 'dst-mac *=02:00:00:00:00:0b' trace.pcap\n"
    "  qpscope replay --rewrite 'qpn 0x11=0x42 at 10.0.0.2' --rewrite 'psn 0x11+1000' -w other.pcapng trace.pcap\n"
    "  qpscope replay --as requester -C 3 -i eth1 --address 10.77.0.9/24 --connect 10.77.0.12:4420 trace.pcap\n"
    "  qpscope replay --as responder -C 1 -i eth1 --address 10.77.0.9/24 --fast -f json trace.pcap\n\n"
    "With --as, the messages of that end are replayed in their order, with keys and addresses of the live peer in place of\n"
    "the recorded ones. Its answers are compared; differences make the exit code 1.\n\n"
    "Rewrite rules are OLD=NEW, where OLD may be * for any:\n"
    "  mac, src-mac, dst-mac      02:00:00:00:00:01=02:00:00:00:00:0b\n"
    "  ip, src-ip, dst-ip         10.0.0.1=10.77.0.11, 10.0.0.0/24=10.77.0.0/24; also in GIDs, ARP and CM messages\n"
    "  vlan                       5=7, none=7 (add a tag), *=none (remove it)\n"
    "  qpn, rkey                  17=0x42 or, for one host only, \"17=0x42 at 10.0.0.1\"\n"
    "  pkey                       0xffff=0x8001\n"
    "  psn                        17+1000 for packets to queue pair 17; *-5 for all\n"
    "Rules apply to packets as recorded; the first that matches wins. Checksums and ICRC are updated: right ones stay right.",
    prepared<ReplayOptions, run_replay>);

}  // namespace qps::cli
