#include <dissect/capture/bpf.hpp>
#include <gui/live/bpf_check.hpp>

#include <QFuture>
#include <QPromise>
#include <QThreadPool>
#include <memory>

namespace qps::gui {

namespace {

constexpr int kPause = 150;  // ms

struct Answer {
    bool right = false;
    QString sentence;
};

Answer compiled(const QString& expression, dissect::LinkType link) {
    const auto filter = dissect::BpfFilter::compile(expression.toStdString(), link);
    return filter ? Answer{true, {}} : Answer{false, QString::fromStdString(filter.error())};
}

}  // namespace

BpfCheck::BpfCheck(QObject* parent) : QObject(parent) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPause);
    connect(&m_pause, &QTimer::timeout, this, &BpfCheck::compile);
}

void BpfCheck::ask(const QString& expression, dissect::LinkType link) {
    m_expression = expression;
    m_link = link;
    ++m_question;
    m_pause.stop();
    if (expression.trimmed().isEmpty()) return conclude(Verdict::Right, {});
    conclude(Verdict::Pending, {});
    m_pause.start();
}

void BpfCheck::compile() {
    const auto promise = std::make_shared<QPromise<Answer>>();
    promise->future().then(this, [this, question = m_question](const Answer& answer) {
        if (question == m_question) conclude(answer.right ? Verdict::Right : Verdict::Wrong, answer.sentence);
    });
    QThreadPool::globalInstance()->start([promise, expression = m_expression, link = m_link] {
        promise->start();
        promise->addResult(compiled(expression, link));
        promise->finish();
    });
}

void BpfCheck::conclude(Verdict verdict, const QString& sentence) {
    if (verdict == m_verdict && sentence == m_sentence) return;
    m_verdict = verdict;
    m_sentence = sentence;
    Q_EMIT verdictChanged();
}

}  // namespace qps::gui
