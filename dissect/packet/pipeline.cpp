#include <dissect/packet/pipeline.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace qps::dissect {

namespace {

// What a worker does next: a slot to walk or to work on, or a lane to sift or to follow it with.
enum class Step : std::uint8_t { walk, work, sift, follow };
struct Task {
    std::size_t slot = 0;
    Step step = Step::work;
    std::size_t lane = 0;
};

// How far everything has come. Batches are counted from 0; the slot of a batch is its number modulo the number of
// slots.
class Exchange {
public:
    Exchange(std::size_t slots, std::size_t sieves, std::size_t lanes)
        : walked_(slots, false), worked_(slots, false), sieves_(sieves), lanes_(lanes) {}

    void offer(std::size_t slot, Step step) {
        {
            const std::lock_guard lock(mutex_);
            (step == Step::walk ? to_walk_ : to_work_).push_back(slot);
        }
        offered_.notify_one();
    }
    // One batch more may be followed.
    void let_through() {
        {
            const std::lock_guard lock(mutex_);
            ++gated_;
        }
        offered_.notify_all();
    }

    // The next task; nothing once the run is over. What is nearest to its end comes first.
    std::optional<Task> take() {
        std::unique_lock lock(mutex_);
        std::optional<Task> task;
        offered_.wait(lock, [&] { return closed_ || (task = next()).has_value(); });
        if (closed_) return std::nullopt;
        switch (task->step) {
            case Step::follow: lanes_[task->lane].busy = true; break;
            case Step::sift: sieves_[task->lane].busy = true; break;
            case Step::work: to_work_.pop_front(); break;
            case Step::walk: to_walk_.pop_front(); break;
        }
        return task;
    }
    void finish(const Task& task, std::exception_ptr failure) {
        {
            const std::lock_guard lock(mutex_);
            if (failure && !failure_) failure_ = std::move(failure);
            switch (task.step) {
                case Step::follow: lanes_[task.lane].go_on(); break;
                case Step::sift: sieves_[task.lane].go_on(); break;
                case Step::work: worked_[task.slot] = true; break;
                case Step::walk: walked_[task.slot] = true; break;
            }
        }
        finished_.notify_one();
        if (task.step == Step::work && !sieves_.empty()) offered_.notify_all();
        else if (task.step == Step::follow || task.step == Step::sift) offered_.notify_one();  // the lane can go on
    }

    // For the calling thread, which settles, gates and consumes: whether it can do so with that batch; throws what a
    // stage threw.
    [[nodiscard]] bool can_settle(std::size_t batch) {
        const std::lock_guard lock(mutex_);
        return take(walked_, batch);
    }
    [[nodiscard]] bool can_gate(std::size_t batch) {
        const std::lock_guard lock(mutex_);
        if (failure_) std::rethrow_exception(failure_);
        return all_behind(sieves_, batch) && take(worked_, batch);
    }
    [[nodiscard]] bool can_consume(std::size_t batch) {
        const std::lock_guard lock(mutex_);
        if (failure_) std::rethrow_exception(failure_);
        return lanes_.empty() ? take(worked_, batch) : all_behind(lanes_, batch);
    }
    // Until it can do one of them.
    void await(std::size_t settle, std::size_t gate, std::size_t consume) {
        std::unique_lock lock(mutex_);
        finished_.wait(lock, [&] {
            const bool passes = worked_[gate % worked_.size()] && all_behind(sieves_, gate);
            return failure_ || (!lanes_.empty() && all_behind(lanes_, consume)) || passes ||
                   walked_[settle % walked_.size()];
        });
    }

    // Workers end; what nobody took yet is dropped.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            to_walk_.clear();
            to_work_.clear();
        }
        offered_.notify_all();
    }

private:
    struct Lane {
        std::size_t behind = 0;  // batches it is done with
        bool busy = false;
        void go_on() {
            busy = false;
            ++behind;
        }
    };
    using Lanes = std::vector<Lane>;
    // The one that is farthest back of those that can go on.
    template <class CanGoOn> [[nodiscard]] static const Lane* last_of(const Lanes& lanes, CanGoOn can_go_on) {
        const Lane* last = nullptr;
        for (const Lane& lane : lanes)
            if (!lane.busy && can_go_on(lane.behind) && (last == nullptr || lane.behind < last->behind)) last = &lane;
        return last;
    }
    [[nodiscard]] std::optional<Task> next() const {
        const std::size_t slots = worked_.size();
        if (const Lane* lane = last_of(lanes_, [&](std::size_t batch) { return batch < gated_; }))
            return Task{lane->behind % slots, Step::follow, static_cast<std::size_t>(lane - lanes_.data())};
        // What was worked on in a slot is that batch once the one that had the slot before has passed the gate.
        if (const Lane* sieve =
                last_of(sieves_, [&](std::size_t batch) { return batch < gated_ + slots && worked_[batch % slots]; }))
            return Task{sieve->behind % slots, Step::sift, static_cast<std::size_t>(sieve - sieves_.data())};
        if (!to_work_.empty()) return Task{to_work_.front(), Step::work};
        if (!to_walk_.empty()) return Task{to_walk_.front(), Step::walk};
        return std::nullopt;
    }
    [[nodiscard]] bool take(std::vector<bool>& done, std::size_t batch) {
        if (failure_) std::rethrow_exception(failure_);
        if (!done[batch % done.size()]) return false;
        done[batch % done.size()] = false;
        return true;
    }
    [[nodiscard]] static bool all_behind(const Lanes& lanes, std::size_t batch) {
        return std::ranges::all_of(lanes, [&](const Lane& lane) { return lane.behind > batch; });
    }

    std::mutex mutex_;
    std::condition_variable offered_;
    std::condition_variable finished_;
    std::deque<std::size_t> to_walk_;  // slots
    std::deque<std::size_t> to_work_;
    std::vector<bool> walked_;  // by slot, and nobody took it on
    std::vector<bool> worked_;
    Lanes sieves_;
    Lanes lanes_;
    std::size_t gated_ = 0;  // batches
    std::exception_ptr failure_;
    bool closed_ = false;
};

void run_here(const Stages& stages) {
    Batch batch;
    while (stages.read(batch)) {
        stages.work(0, batch);
        for (std::size_t sieve = 0; sieve < stages.sieves; ++sieve) stages.sift(0, sieve);
        if (stages.lanes != 0) stages.gate(0);
        for (std::size_t lane = 0; lane < stages.lanes; ++lane) stages.follow(0, lane);
        if (!stages.consume(0)) return;
    }
}

// How many threads leave room to work in under a limit of address space (ulimit -v, batch systems): each takes a stack
// and an arena of the allocator, and together they shall not take more than a half.
std::size_t affordable_threads() {
    constexpr rlim_t kOfThread = rlim_t{136} << 20;  // 8 MiB of stack, and glibc reserves up to 128 MiB for an arena
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur / 2 / kOfThread;
}

// The workers of a run. Whatever happens, they end before the batches they work on.
class Workers {
public:
    Workers(const Stages& stages, std::vector<Batch>& batches, Exchange& exchange, std::size_t count)
        : stages_(stages), batches_(batches), exchange_(exchange) {
        try {
            for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {  // no more threads to be had: those there are will do
            if (threads_.empty()) exchange_.close();
        } catch (...) {  // threads that run must be told before they are waited for
            exchange_.close();
            throw;
        }
    }
    ~Workers() { exchange_.close(); }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    [[nodiscard]] bool any() const { return !threads_.empty(); }

private:
    void work() {
        while (const auto task = exchange_.take()) {
            std::exception_ptr failure;
            try {
                switch (task->step) {
                    case Step::follow: stages_.follow(task->slot, task->lane); break;
                    case Step::sift: stages_.sift(task->slot, task->lane); break;
                    case Step::work: stages_.work(task->slot, batches_[task->slot]); break;
                    case Step::walk: stages_.walk(batches_[task->slot]); break;
                }
            } catch (...) {  // out of memory, say: the calling thread is told
                failure = std::current_exception();
            }
            exchange_.finish(*task, std::move(failure));
        }
    }

    const Stages& stages_;
    std::vector<Batch>& batches_;
    Exchange& exchange_;
    std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace

void run(const Stages& stages, Jobs jobs) {
    const std::size_t threads = std::min<std::size_t>(jobs.count, affordable_threads());
    if (threads <= 1) return run_here(stages);
    const std::size_t slots = std::max<std::size_t>(jobs.slots(), 1);
    std::vector<Batch> batches(slots);
    Exchange exchange(slots, stages.sieves, stages.lanes);
    Workers workers(stages, batches, exchange, threads);
    if (!workers.any()) return run_here(stages);
    std::size_t read = 0, settled = 0, gated = 0, consumed = 0;  // batches
    bool more = true;
    while (more || consumed < read) {
        if (consumed < settled && (stages.lanes == 0 || consumed < gated) && exchange.can_consume(consumed)) {
            if (!stages.consume(consumed++ % slots)) return;
        } else if (stages.lanes != 0 && gated < settled && exchange.can_gate(gated)) {
            stages.gate(gated++ % slots);
            exchange.let_through();
        } else if (settled < read && exchange.can_settle(settled)) {
            stages.settle(batches[settled % slots]);
            exchange.offer(settled++ % slots, Step::work);
        } else if (more && read - consumed < slots && stages.reach && stages.reach(batches[read % slots])) {
            exchange.offer(read++ % slots, Step::walk);
        } else if (more && read - consumed < slots && settled == read) {
            more = stages.read(batches[read % slots]);
            if (more) exchange.offer(read++ % slots, Step::work);
            settled = read;
        } else {
            exchange.await(settled, stages.lanes == 0 ? consumed : gated, consumed);
        }
    }
}

}  // namespace qps::dissect
