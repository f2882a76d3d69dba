import CoreMetrics
import Synchronization

/// A metric of `PrometheusMetrics`.
final class PrometheusSeries: CounterHandler, RecorderHandler, TimerHandler {
  enum Kind: Hashable, Sendable {
    case counter, gauge, summary, timer

    /// The type in the text.
    var type: String {
      switch self {
      case .counter: "counter"
      case .gauge: "gauge"
      case .summary, .timer: "summary"
      }
    }

    /// The end of the name, which says the unit or that the value only increases.
    var suffix: String {
      switch self {
      case .counter: "_total"
      case .gauge, .summary: ""
      case .timer: "_seconds"
      }
    }
  }

  private struct Value {
    /// The value of a counter, or the number of values that were recorded.
    var count: Int64 = 0
    /// The value of a gauge, or the sum of the values that were recorded.
    var sum = 0.0
  }

  private let kind: Kind
  private let value = Mutex(Value())

  init(_ kind: Kind) { self.kind = kind }

  /// Returns the lines of the text with the present value.
  func lines(name: String, labels: String) -> [String] {
    let value = value.withLock { $0 }
    let labels = labels.isEmpty ? "" : "{\(labels)}"
    return switch kind {
    case .counter: ["\(name)\(labels) \(value.count)"]
    case .gauge: ["\(name)\(labels) \(value.sum)"]
    case .summary, .timer:
      ["\(name)_sum\(labels) \(value.sum)", "\(name)_count\(labels) \(value.count)"]
    }
  }

  func increment(by amount: Int64) {
    value.withLock { value in
      let (sum, overflow) = value.count.addingReportingOverflow(amount)
      value.count = overflow ? .max : sum
    }
  }

  func reset() { value.withLock { $0 = Value() } }

  func record(_ number: Int64) { record(Double(number)) }

  func record(_ number: Double) {
    value.withLock { value in
      value.count += 1
      value.sum = kind == .gauge ? number : value.sum + number
    }
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
