#include <dissect/pipeline.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace qps::dissect {

namespace {

// Slots that are read and wait for a worker, and which of them are done.
class Exchange {
public:
    explicit Exchange(std::size_t slots) : done_(slots, false) {}

    void offer(std::size_t slot) {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(slot);
        }
        offered_.notify_one();
    }

    // The next slot to work on; nothing once the run is over.
    std::optional<std::size_t> take() {
        std::unique_lock lock(mutex_);
        offered_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty()) return std::nullopt;
        const std::size_t slot = waiting_.front();
        waiting_.pop_front();
        return slot;
    }

    void finish(std::size_t slot) {
        {
            const std::lock_guard lock(mutex_);
            done_[slot] = true;
        }
        finished_.notify_one();
    }

    void await(std::size_t slot) {
        std::unique_lock lock(mutex_);
        finished_.wait(lock, [&] { return done_[slot]; });
        done_[slot] = false;
    }

    // Workers end; what nobody took yet is dropped.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            waiting_.clear();
        }
        offered_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable offered_;
    std::condition_variable finished_;
    std::deque<std::size_t> waiting_;
    std::vector<bool> done_;
    bool closed_ = false;
};

void run_here(const Stages& stages) {
    Batch batch;
    while (stages.read(batch)) {
        stages.work(0, batch);
        if (!stages.consume(0)) return;
    }
}

// The workers of a run. Whatever happens, they end before the batches they work on.
class Workers {
public:
    Workers(const Stages& stages, std::vector<Batch>& batches, std::size_t count)
        : stages_(stages), batches_(batches), exchange_(batches.size()) {
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
    void offer(std::size_t slot) { exchange_.offer(slot); }
    // Waits for a slot that was offered; throws what its work threw.
    void await(std::size_t slot) {
        exchange_.await(slot);
        if (failures_[slot]) std::rethrow_exception(failures_[slot]);
    }

private:
    void work() {
        while (const auto slot = exchange_.take()) {
            try {
                stages_.work(*slot, batches_[*slot]);
            } catch (...) {  // out of memory, say: the calling thread is told
                failures_[*slot] = std::current_exception();
            }
            exchange_.finish(*slot);
        }
    }

    const Stages& stages_;
    std::vector<Batch>& batches_;
    Exchange exchange_;
    std::vector<std::exception_ptr> failures_ = std::vector<std::exception_ptr>(batches_.size());
    std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace

void run(const Stages& stages, Jobs jobs) {
    if (jobs.count <= 1) return run_here(stages);
    const std::size_t slots = std::max<std::size_t>(jobs.slots(), 1);
    std::vector<Batch> batches(slots);
    Workers workers(stages, batches, jobs.count);
    if (!workers.any()) return run_here(stages);
    std::size_t consumed = 0;
    std::size_t read = 0;
    bool more = true;
    bool going = true;
    while (going && (more || consumed < read)) {
        if (more && read - consumed < slots) {
            more = stages.read(batches[read % slots]);
            if (more) workers.offer(read++ % slots);
            continue;
        }
        workers.await(consumed % slots);
        going = stages.consume(consumed++ % slots);
    }
}

}  // namespace qps::dissect
