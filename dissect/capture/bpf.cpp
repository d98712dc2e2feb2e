// BPF filters by libpcap.
#include <dissect/capture/bpf.hpp>

#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <netdb.h>
#include <pcap.h>

namespace qps::dissect {

namespace {

struct ClosePcap {
    void operator()(pcap_t* handle) const { pcap_close(handle); }
};

// A compiled program, or why there is none.
class Program {
public:
    Program(LinkType link, const std::string& expression);
    Program() : error_("no packet of this link type is decoded") {}  // matches nothing
    Program(Program&& other) noexcept
        : link_(other.link_), code_(std::exchange(other.code_, bpf_program{})), error_(std::move(other.error_)) {}
    Program& operator=(Program&&) = delete;
    ~Program() { pcap_freecode(&code_); }

    [[nodiscard]] LinkType link() const { return link_; }
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] bool matches(const Frame& frame) const {
        pcap_pkthdr header{};
        header.caplen = static_cast<bpf_u_int32>(frame.bytes.size());
        header.len = frame.wire_length;
        return pcap_offline_filter(&code_, &header, reinterpret_cast<const u_char*>(frame.bytes.data())) != 0;
    }

private:
    LinkType link_{};
    bpf_program code_{};
    std::string error_;
};

// DLT_ numbers are what libpcap calls link types in programs; they differ from those in files for raw IP only, among
// ours.
int dlt_of(LinkType link) { return link == LinkType::raw_ip ? DLT_RAW : static_cast<int>(link); }

Program::Program(LinkType link, const std::string& expression) : link_(link) {
    constexpr int kSnapLength = 262'144;  // the return value of a match; longer than any frame it is compared with
    constexpr int kOptimise = 1;
    const std::unique_ptr<pcap_t, ClosePcap> handle(pcap_open_dead(dlt_of(link), kSnapLength));
    if (!handle) throw std::bad_alloc();
    if (pcap_compile(handle.get(), &code_, expression.c_str(), kOptimise, PCAP_NETMASK_UNKNOWN) != 0) {
        code_ = {};
        error_ = pcap_geterr(handle.get());
        if (error_.empty()) error_ = "cannot compile the expression";
        // Who was asked: a static program asks no DNS, and its gai_strerror() says so.
        if (error_.starts_with("unknown host")) error_ += fmt::format(": {}", gai_strerror(EAI_NONAME));
    }
}

}  // namespace

struct BpfFilter::State {
    std::string expression;
    std::vector<Program> programs;
    bool complete = false;  // nothing is compiled any more

    // The program for `link`, compiled where it is new.
    const Program& program(LinkType link) {
        for (const Program& program : programs)
            if (program.link() == link) return program;
        static const Program none;
        if (complete) return none;
        if (programs.size() >= kMaxBpfLinks) programs.clear();
        return programs.emplace_back(link, expression);
    }
};

BpfFilter::BpfFilter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfFilter::BpfFilter(BpfFilter&&) noexcept = default;
BpfFilter& BpfFilter::operator=(BpfFilter&&) noexcept = default;
BpfFilter::~BpfFilter() = default;

std::expected<std::unique_ptr<BpfFilter::State>, std::string> BpfFilter::begin(std::string expression) {
    if (expression.size() > kMaxBpfExpression)
        return std::unexpected(fmt::format("expression longer than {} bytes", kMaxBpfExpression));
    if (expression.contains('\0')) return std::unexpected("expression contains a zero byte");
    auto state = std::make_unique<State>();
    state->expression = std::move(expression);
    return state;
}

std::expected<BpfFilter, std::string> BpfFilter::compile_for_all(std::string expression) try {
    auto state = begin(std::move(expression));
    if (!state) return std::unexpected(std::move(state.error()));
    for (const LinkTypeName& row : kLinkTypeNames) static_cast<void>((*state)->program(row.link));
    (*state)->complete = true;
    return BpfFilter(std::move(*state));
} catch (const std::bad_alloc&) {
    return std::unexpected("out of memory");
}

std::expected<void, std::string> BpfFilter::accepts(LinkType link) try {
    const Program& program = state_->program(link);
    if (!program.error().empty()) return std::unexpected(program.error());
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected("out of memory");
}

std::expected<BpfFilter, std::string> BpfFilter::compile(std::string expression, LinkType link) try {
    auto state = begin(std::move(expression));
    if (!state) return std::unexpected(std::move(state.error()));
    const Program& program = (*state)->program(link);
    if (!program.error().empty()) return std::unexpected(program.error());
    return BpfFilter(std::move(*state));
} catch (const std::bad_alloc&) {
    return std::unexpected("out of memory");
}

std::expected<bool, std::string> BpfFilter::matches(const Frame& frame) try {
    const Program& program = state_->program(frame.link);
    if (!program.error().empty()) return std::unexpected(program.error());
    return program.matches(frame);
} catch (const std::bad_alloc&) {
    return std::unexpected("out of memory");
}

const std::string& BpfFilter::expression() const { return state_->expression; }

}  // namespace qps::dissect
