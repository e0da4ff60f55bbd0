import InMemoryBackends
import InMemoryTracing
import MetricsTestKit
import Tracing

/// Prints spans and metrics.
enum Report {
    /// Prints spans as trees, in the order in which they began.
    static func print(_ spans: [FinishedInMemorySpan]) {
        Swift.print("\n== spans")
        let spans = spans.sorted { $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch }
        let ids = Set(spans.map(\.spanID))
        for root in spans where root.parentSpanID.map({ !ids.contains($0) }) ?? true {
            print(root, in: spans, depth: 1)
        }
    }

    private static func print(_ span: FinishedInMemorySpan, in spans: [FinishedInMemorySpan], depth: Int) {
        let margin = String(repeating: "   ", count: depth)
        let duration = span.endInstant.nanosecondsSinceEpoch - span.startInstant.nanosecondsSinceEpoch
        let status = span.status.map { ", \($0.code)\($0.message.map { ": \($0)" } ?? "")" } ?? ""
        Swift.print("\(margin)\(span.operationName) (\(span.kind), \(duration / 1_000) µs\(status))")
        for (name, text) in span.texts.sorted(by: { $0.key < $1.key }) { Swift.print("\(margin)   \(name)=\(text)") }
        for event in span.events { Swift.print("\(margin)   * \(event.name)") }
        for child in spans where child.parentSpanID == span.spanID { print(child, in: spans, depth: depth + 1) }
    }

    /// Prints all metrics with their dimensions.
    static func print(_ metrics: TestMetrics) {
        Swift.print("\n== metrics")
        for timer in metrics.timers { show(timer.label, timer.dimensions, timer.values.map { "\($0 / 1_000) µs" }) }
        for recorder in metrics.recorders {
            show(recorder.label, recorder.dimensions, recorder.values.map { "\(Int($0)) bytes" })
        }
        for meter in metrics.meters { show(meter.label, meter.dimensions, meter.values.map { "\(Int($0))" }) }
    }

    private static func show(_ label: String, _ dimensions: [(String, String)], _ values: [String]) {
        let dimensions = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        Swift.print("   \(label) {\(dimensions)}: \(values.joined(separator: ", "))")
    }
}
