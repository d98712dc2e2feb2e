#include <dissect/capture/time_merge.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/index/indexed_files.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Of the file that is being read.
struct Input {
    CaptureFile capture;
    std::size_t number = 0;  // among those of the index
    Spool* spool = nullptr;  // owned by the index; nullptr: the file can be read again itself
    std::shared_ptr<const FrameReader> reader;
    std::size_t interfaces = 0;  // that were met so far
    std::size_t described = 0;   // of which the index knows: those, or the spool's
};

// A batch between worker and analysis.
struct Piece {
    explicit Piece(std::size_t lanes) : observations(lanes) {}
    const Batch* batch = nullptr;
    std::size_t frames = 0;  // of the batch that were in the file
    ShardedBatch observations;
    std::vector<std::uint64_t> places;  // record of each, by file_offset
    std::vector<std::uint16_t> files;   // and file
    bool copied = false;                // a timeline of what is known behind it was asked for
};

// The file of each frame of batches under way, for threads that work on them.
class Origins {
public:
    // Stays where it is; of a batch that is read into again it begins anew.
    std::vector<std::uint16_t>& of(const Batch& batch) {
        const std::lock_guard lock(mutex_);
        return files_[&batch];
    }

private:
    std::mutex mutex_;
    std::map<const Batch*, std::vector<std::uint16_t>> files_;
};

// As many as threads, where the files can be read again in one. Numbers of connections that the user names are those of
// the whole.
std::size_t lanes_for(const Indexing& indexing) {
    if (indexing.one_lane || !indexing.hints.empty() || !std::ranges::all_of(indexing.files, is_there_again)) return 1;
    return indexing.jobs.count;
}

class Indexer {
public:
    Indexer(CaptureIndex& index, const Indexing& indexing, const IndexWatch& watch)
        : index_(index),
          indexing_(indexing),
          watch_(watch),
          analysis_(settings(), lanes_for(indexing), true),
          most_(bytes_of_rows(indexing.memory)) {}
    Indexer(const Indexer&) = delete;
    Indexer& operator=(const Indexer&) = delete;

    Indexed run() {
        size_ = size_of(indexing_.files);
        index_.set_link_speed(indexing_.link_speed);
        read_all();
        outcome_.stopped = stopped_;
        outcome_.over = analysis_.over();
        outcome_.timeline = analysis_.finish(drops_);
        index_.settle(outcome_.timeline.numbers);
        return std::move(outcome_);
    }

private:
    bool stopped() {
        if (!stopped_ && watch_.stopped && watch_.stopped()) stopped_ = true;
        return stopped_;
    }

    [[nodiscard]] AnalysisSettings settings();
    void keep(ConnectionId connection, End requester, const Message& message);
    void keep(const Observation& observation, const PacketRecord& record);
    void read_all();
    void read(std::size_t file);
    void read_by_time(const ReadTogether& group);
    [[nodiscard]] std::optional<Input> open(const std::string& file);
    [[nodiscard]] bool prepare(Input& input, const std::string& file);
    [[nodiscard]] bool read_batch(Input& input, Batch& batch);
    void describe(Input& input, Batch& batch);
    void number(Batch& batch);
    void end(const Input& input);
    // The stage in which lanes follow those batches.
    [[nodiscard]] std::function<void(std::size_t slot, std::size_t lane)> follow(std::vector<Piece>& pieces) {
        return
            [this, &pieces](std::size_t slot, std::size_t lane) { analysis_.follow(pieces[slot].observations, lane); };
    }
    // And the one before, in which repetitions are looked up.
    [[nodiscard]] std::function<void(std::size_t slot, std::size_t sieve)> sift(std::vector<Piece>& pieces) {
        return
            [this, &pieces](std::size_t slot, std::size_t sieve) { analysis_.sift(pieces[slot].observations, sieve); };
    }
    void take(Piece& piece);
    void gate(Piece& piece);
    void show(Piece& piece, const Drops& of_this_file);
    void show_all(const Drops& of_this_file);

    CaptureIndex& index_;
    const Indexing& indexing_;
    const IndexWatch& watch_;
    ShardedAnalysis analysis_;
    Indexed outcome_;
    Drops drops_;                        // of the files before
    std::uint64_t shown_ = 0;            // packets that the last timeline knows
    std::function<void()> idle_;         // while a pipe is read
    std::optional<std::uint64_t> size_;  // of all files, in bytes as stored
    std::uint64_t frames_ = 0;           // read so far, over all files
    std::uint64_t messages_ = 0;         // that packets before ended
    std::uint64_t bytes_before_ = 0;     // of the files before
    std::uint64_t most_;                 // bytes of rows
    bool full_ = false;                  // no more rows of any kind, from the next packet on
    bool stopped_ = false;
    bool copying_ = false;  // for a timeline that was not made yet
};

AnalysisSettings Indexer::settings() {
    return {.message = [this](ConnectionId connection, End requester,
                              const Message& message) { keep(connection, requester, message); },
            .operation =
                [this](const UlpOperation& operation) {
                    if (!full_) index_.operations.append(OperationRow(operation));
                },
            .hints = indexing_.hints,
            .icrc = indexing_.icrc,
            .traits = indexing_.traits,
            .unordered = indexing_.unordered,
            .memory = indexing_.memory.part_of(4)};
}

// Its label comes first: readers look from the message.
void Indexer::keep(ConnectionId connection, End requester, const Message& message) {
    if (full_) {
        ++outcome_.messages_left_out;
        return;
    }
    if (message.ulp) index_.labels.append(LabelRow(index_.messages.size(), *message.ulp));
    index_.messages.append(MessageRow(connection, requester, message));
}

// What its connection speaks, once that is known or known to be wrong.
void Indexer::keep(const Observation& observation, const PacketRecord& record) {
    if (record.mirror_copy) return;
    if (record.connection) index_.ulp.learn(*record.connection, record.from, record.ulp);
    const bool alone = !record.connection && record.ulp.protocol != UlpProtocol::none;
    const bool more = record.ulp.detail != 0 || record.ulp.iwarp.what != dissect::IwarpPlace::What::none;
    if (alone || more) index_.ulp_packets.append({observation.frame, record.ulp});
}

// Where the packets of that file will be read again: in itself, or in a spool.
bool Indexer::prepare(Input& input, const std::string& file) {
    const CaptureFile& capture = input.capture;
    IndexedFile description{capture.name(), FrameIndex{frames_ + 1}, !capture.mapped()};
    std::optional<Spool> spool;
    if (description.spooled) {
        auto made = Spool::make(indexing_.spool_folder);
        if (!made) {
            outcome_.problems.push_back({InputProblemKind::unreadable, capture.name(), 0,
                                         "cannot be kept: " + made.error().file + " " + made.error().sentence});
            return false;
        }
        spool.emplace(std::move(*made));
    }
    auto reader = FrameReader::open(spool ? spool->path() : file);
    if (!reader) {
        outcome_.problems.push_back(reader.error());
        return false;
    }
    input.reader = std::make_shared<const FrameReader>(std::move(*reader));
    if (spool) spool->hide();
    const auto number = index_.add(std::move(description), std::move(spool));
    if (!number) {
        outcome_.problems.push_back({InputProblemKind::unreadable, capture.name(), 0, "is one file too many"});
        return false;
    }
    input.number = *number;
    input.spool = index_.spool(*number);
    return true;
}

// Who stops gets the rows of all that was read: what the analysis knows has them.
bool Indexer::read_batch(Input& input, Batch& batch) {
    if (stopped() || !input.capture.read(batch)) return false;
    describe(input, batch);
    return true;
}

// What it takes to read the frames again: their interfaces, and copies of those that no file keeps.
void Indexer::describe(Input& input, Batch& batch) {
    const std::size_t interfaces = input.capture.interfaces().size();
    if (input.spool != nullptr) {
        for (std::size_t i = input.interfaces; i < interfaces; ++i)
            input.spool->describe(InterfaceId{static_cast<std::uint32_t>(i)}, input.capture.interfaces()[i]);
        // What has no row is not looked at again.
        if (auto problem = full_ ? std::nullopt : input.spool->copy(batch.frames))
            outcome_.problems.push_back(
                {InputProblemKind::damaged, input.capture.name(), input.capture.bytes_read(),
                 "packets from here on are analysed but cannot be shown: " + problem->file + " " + problem->sentence});
    }
    input.interfaces = interfaces;
    // Not with every batch: one of a pipe may be a single packet, and the layout as long as the list of interfaces.
    if (const std::size_t described = input.spool != nullptr ? input.spool->interfaces() : interfaces;
        described != input.described) {
        input.described = described;
        CaptureLayout layout = input.spool != nullptr ? input.spool->layout() : input.capture.layout();
        // What comes without a new interface is like what came. But past kMaxSections nobody knows any more which
        // section a place is in.
        const bool lost =
            input.spool == nullptr && !batch.frames.empty() && layout.known_to <= batch.frames.back().file_offset;
        if (!lost) layout.known_to = UINT64_MAX;
        index_.read_by(input.number, input.reader, std::move(layout));
    }
}

void Indexer::number(Batch& batch) {
    for (Frame& frame : batch.frames) {
        if (frame.has_time && !index_.start()) index_.started(frame.time);
        frame.index = FrameIndex{++frames_};
        if (indexing_.link_speed != BitsPerSecond{}) frame.link_speed = indexing_.link_speed;
    }
}

// What refers to a packet comes before its row: readers look from the row.
void Indexer::take(Piece& piece) {
    const Observation* packet = nullptr;
    const PacketRecord* known = nullptr;
    std::size_t place = 0;
    const auto remember = [&](const Observation& observation, const PacketRecord& record, std::size_t at) {
        packet = &observation;
        known = &record;
        place = at;
        return true;
    };
    const auto append = [&] {
        const std::uint64_t row = index_.packets.size();
        if (full_) return void(++outcome_.left_out);
        keep(*packet, *known);
        if (known->missing != 0) index_.gaps.append({packet->frame, known->missing});
        const std::uint64_t messages = index_.messages.size();
        if (messages != messages_)
            index_.endings.append({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(messages_),
                                   static_cast<std::uint32_t>(messages - messages_)});
        messages_ = messages;
        index_.packets.append(PacketRow(piece.files[place], piece.places[place], *packet, *known));
        full_ = row + 1 == decltype(index_.packets)::kMaxRows || index_.bytes() >= most_;
    };
    analysis_.visit(piece.observations, remember, append);
}

// Lanes go on while a timeline of what was before is made: it is made of a copy, asked for here.
void Indexer::gate(Piece& piece) {
    const bool wanted = !copying_ && watch_.timeline && watch_.wants_timeline && watch_.wants_timeline();
    copying_ |= wanted;
    piece.copied = wanted;
    analysis_.gate(piece.observations, wanted);
}

void Indexer::show(Piece& piece, const Drops& of_this_file) {
    if (!std::exchange(piece.copied, false)) return;
    copying_ = false;
    shown_ = index_.packets.size();
    Drops drops = drops_;
    watch_.timeline(analysis_.so_far(piece.observations, drops += of_this_file));
}

// While a pipe is waited for, and every packet that came was followed.
void Indexer::show_all(const Drops& of_this_file) {
    if (!watch_.timeline || !watch_.wants_timeline || !watch_.wants_timeline()) return;
    shown_ = index_.packets.size();
    Drops drops = drops_;
    watch_.timeline(analysis_.so_far(drops += of_this_file));
}

std::optional<Input> Indexer::open(const std::string& file) {
    auto capture = CaptureFile::open(file, [this] {
        if (idle_ && index_.packets.size() != shown_) idle_();
        return stopped();
    });
    if (!capture) {
        if (!stopped()) outcome_.problems.push_back(capture.error());
        return std::nullopt;
    }
    Input input{.capture = std::move(*capture), .reader = {}};
    if (!prepare(input, file)) return std::nullopt;
    return input;
}

void Indexer::end(const Input& input) {
    drops_ += input.capture.drops();
    bytes_before_ += input.capture.bytes_read();
    if (!stopped() && input.capture.problem().kind != InputProblemKind::none)
        outcome_.problems.push_back(input.capture.problem());
}

void decode_into(Piece& piece, auto file_of) {
    Packet packet;
    piece.observations.clear();
    piece.places.clear();
    piece.files.clear();
    std::size_t at = 0;
    for (const Frame& frame : std::span(piece.batch->frames).first(piece.frames)) {
        const std::uint16_t file = file_of(at++);
        if (!piece.observations.add_straight(frame, file)) {
            decode(frame, packet);
            piece.observations.add(packet, file);
        }
        piece.places.push_back(frame.file_offset);
        piece.files.push_back(file);
    }
}

void Indexer::read_all() {
    const auto order = groups_of(indexing_, [this] { return stopped(); });
    if (!order) {
        outcome_.problems.push_back(order.error());
        return;
    }
    for (const ReadTogether& group : *order) {
        if (analysis_.over() || stopped()) return;
        if (!indexing_.by_time && !goes_on(indexing_, group, analysis_)) analysis_.end_recording();
        if (group.files.size() == 1) read(group.files.front());
        else read_by_time(group);
    }
}

// Those files at once, and their frames by time. Where one is truncated meanwhile, the frames before that are what
// there is.
void Indexer::read_by_time(const ReadTogether& group) {
    std::vector<Input> inputs;
    std::vector<TimeMerge::Source> sources;
    inputs.reserve(group.files.size());
    for (std::size_t i = 0; i < group.files.size() && !stopped(); ++i) {
        const std::size_t file = group.files[i];
        auto input = open(indexing_.files[file]);
        if (!input) continue;
        inputs.push_back(std::move(*input));
        sources.push_back({.read = [this, at = &inputs.back()](Batch& batch) { return read_batch(*at, batch); },
                           .outlive = inputs.back().capture.mapped(),
                           .offset = offset_of(indexing_, file),
                           .first = group.first[i]});
    }
    TimeMerge merge(std::move(sources));
    Origins origins;
    const auto drops = [&] {
        Drops sum;
        for (const Input& input : inputs) sum += input.capture.drops();
        return sum;
    };
    const auto there = [&](const Batch& batch, const std::vector<std::uint16_t>& from) {
        const bool sound = std::ranges::none_of(inputs, [](const Input& input) { return input.capture.shrank(); });
        std::size_t count = 0;
        while (count < batch.frames.size() &&
               (sound || inputs[from[count]].capture.still_there(std::span(batch.frames).subspan(count, 1)) == 1))
            ++count;
        return count;
    };
    std::vector<Piece> pieces(indexing_.jobs.slots(), Piece{analysis_.lanes()});
    bool whole = true;
    const auto read = [&](Batch& batch) {
        if (!whole || !merge.read(batch, origins.of(batch))) return false;
        number(batch);
        std::uint64_t bytes = 0;
        for (const Input& input : inputs) bytes += input.capture.bytes_read();
        if (watch_.progressed) watch_.progressed(bytes, size_);
        return true;
    };
    const auto work = [&](std::size_t slot, const Batch& batch) {
        const std::vector<std::uint16_t>& from = origins.of(batch);
        pieces[slot].batch = &batch;
        pieces[slot].frames = there(batch, from);
        decode_into(pieces[slot], [&](std::size_t at) { return static_cast<std::uint16_t>(inputs[from[at]].number); });
    };
    const auto pass = [&](std::size_t slot) {
        Piece& piece = pieces[slot];
        const std::vector<std::uint16_t>& from = origins.of(*piece.batch);
        const std::size_t count = whole ? there(*piece.batch, from) : 0;
        if (std::exchange(piece.frames, count) != count)
            decode_into(piece, [&](std::size_t at) { return static_cast<std::uint16_t>(inputs[from[at]].number); });
        whole &= count == piece.batch->frames.size();
        gate(piece);
    };
    const auto consume = [&](std::size_t slot) {
        Piece& piece = pieces[slot];
        take(piece);
        show(piece, drops());
        return !analysis_.over();
    };
    dissect::run(
        {read, work, consume, pass, follow(pieces), analysis_.lanes(), {}, {}, {}, sift(pieces), analysis_.sieves()},
        indexing_.jobs);
    for (const Input& input : inputs) end(input);
}

void Indexer::read(std::size_t file) {
    auto opened = open(indexing_.files[file]);
    if (!opened) return;
    Input& input = *opened;
    const Duration by = offset_of(indexing_, file);
    const Jobs jobs = input.capture.size() ? indexing_.jobs : Jobs{1};
    std::vector<Piece> pieces(jobs.slots(), Piece{analysis_.lanes()});
    const auto decode_frames = [&](Piece& piece) {
        decode_into(piece, [&](std::size_t) { return static_cast<std::uint16_t>(input.number); });
    };
    const auto move = [&](Batch& batch) { move_times(batch, by); };
    const auto progress = [&] {
        if (watch_.progressed) watch_.progressed(bytes_before_ + input.capture.bytes_read(), size_);
    };
    const auto read_on = [&](Batch& batch) {
        if (!read_batch(input, batch)) return false;
        move(batch);
        number(batch);
        progress();
        return true;
    };
    const auto reach = [&](Batch& batch) { return !stopped() && input.spool == nullptr && input.capture.reach(batch); };
    const auto walk = [&](Batch& batch) { input.capture.walk(batch); };
    const auto settle = [&](Batch& batch) {
        input.capture.settle(batch);
        describe(input, batch);
        if (batch.numbered_from) {  // a stretch: who decodes it does the rest
            batch.numbered_from = frames_;
            frames_ += batch.frames.size();
        } else {
            move(batch);
            number(batch);
        }
        progress();
    };
    const auto work = [&](std::size_t slot, Batch& batch) {
        if (batch.numbered_from) {
            move(batch);
            for (Frame& frame : batch.frames) {
                frame.index = FrameIndex{*batch.numbered_from + std::to_underlying(frame.index)};
                if (indexing_.link_speed != BitsPerSecond{}) frame.link_speed = indexing_.link_speed;
            }
        }
        pieces[slot].batch = &batch;
        pieces[slot].frames = input.capture.still_there(batch.frames);
        decode_frames(pieces[slot]);
    };
    const auto pass = [&](std::size_t slot) {
        Piece& piece = pieces[slot];
        const std::size_t there = input.capture.still_there(piece.batch->frames);
        if (std::exchange(piece.frames, there) != there) decode_frames(piece);  // the file was truncated meanwhile
        gate(piece);
    };
    const auto consume = [&](std::size_t slot) {
        Piece& piece = pieces[slot];
        take(piece);
        show(piece, input.capture.drops());
        return !analysis_.over();
    };
    // One thread alone has analysed everything that it read when it waits for more.
    if (jobs.count == 1) idle_ = [&] { show_all(input.capture.drops()); };
    dissect::run({read_on, work, consume, pass, follow(pieces), analysis_.lanes(), reach, walk, settle, sift(pieces),
                  analysis_.sieves()},
                 jobs);
    idle_ = {};
    end(input);
}

}  // namespace

std::uint64_t bytes_of_rows(const MemoryBudget& memory) {
    constexpr std::uint64_t kTimesAtOnce = 4;  // two views show some, while others are made
    return memory.bytes() / 2 - kTimesAtOnce * bytes_beside(memory, Beside::latencies);
}

Indexed build_index(CaptureIndex& index, const Indexing& indexing, const IndexWatch& watch) {
    return Indexer(index, indexing, watch).run();
}

std::optional<Indexing> second_reading(const Indexing& first, const Indexed& outcome) {
    if (outcome.stopped) return {};
    if (outcome.over) {
        Indexing second = first;
        second.one_lane = true;
        return second;
    }
    if (first.traits.any() || !outcome.timeline.learned.any() || !std::ranges::all_of(first.files, is_there_again))
        return {};
    Indexing second = first;
    second.traits = outcome.timeline.learned;
    return second;
}

ReadIndex read_index(Indexing indexing, const IndexWatch& watch) {
    for (;;) {
        ReadIndex read{.index = std::make_unique<CaptureIndex>(), .outcome = {}};
        read.outcome = build_index(*read.index, indexing, watch);
        auto next = second_reading(indexing, read.outcome);
        if (!next) return read;
        indexing = std::move(*next);
    }
}

}  // namespace qps::transport
