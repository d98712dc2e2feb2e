// Analyses the files for the sets that a display filter names.
#include "filter_sets.hpp"

#include <transport-replay/index/named_sets.hpp>

#include <memory>

#include "analyzing.hpp"
#include "decoding_as.hpp"
#include "message.hpp"

namespace qps::cli {

using namespace transport;

std::expected<dissect::Filter, ExitCode> with_sets(const Options& options, dissect::Filter filter, const Output& output) {
    if (!names_sets(options.filter)) return filter;
    if (!can_be_read_twice(options)) {
        say("qpscope: rdma.message and rdma.finding are known when all packets were read: expected files that can be read twice\n");
        return std::unexpected(ExitCode::usage);
    }
    auto index = std::make_unique<CaptureIndex>();
    const auto packet = [&](const Observation& observation, const PacketRecord& record) {
        static_cast<void>(index->packets.append(PacketRow(0, 0, observation, record)));
    };
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        static_cast<void>(index->messages.append(MessageRow(connection, requester, ended)));
    };
    Options whole = options;
    whole.filter.clear();
    whole.connections.clear();
    whole.quiet = true;  // what is wrong with the files is said when they are read again
    const Analyzed analyzed = analyze(whole, dissect::Filter{}, output,
                                      {.packet = packet, .message = message, .again = [&] { index = std::make_unique<CaptureIndex>(); }});
    auto compiled = dissect::Filter::compile(with_frames(options.filter, *index, analyzed.timeline));
    if (compiled) return std::move(*compiled);
    say("qpscope: invalid display filter: {}\n", compiled.error().message);
    return std::unexpected(ExitCode::usage);
}

}  // namespace qps::cli
