import CaromSession
import CoreMetrics
import Synchronization

/// Stores metrics in memory, and writes them in the text format of Prometheus, version 0.0.4.
///
/// ```swift
/// let memory = PrometheusMetrics()
/// let metrics = SessionMetrics(factory: memory)
/// let browsers = BrowserOptions(resources: ["/metrics": { memory.page }])
/// ```
///
/// Give it to `MetricsSystem.bootstrap` to have the metrics of all libraries of the process. In the
/// names, each character that Prometheus does not allow is replaced by "_".
///
/// | swift-metrics | Prometheus |
/// |---|---|
/// | counter `a.b` | counter `a_b_total` |
/// | gauge `a.b` | gauge `a_b` |
/// | recorder `a.b` | summary without quantiles: `a_b_sum` and `a_b_count` |
/// | timer `a.b` | summary in seconds: `a_b_seconds_sum` and `a_b_seconds_count` |
public final class PrometheusMetrics: MetricsFactory {
  /// The maximum number of metrics, counting each combination of dimensions. Further ones are
  /// accepted, but do not appear in the text.
  public static let limit = 1_000

  /// The metrics of one name.
  private struct Family {
    let kind: PrometheusSeries.Kind
    /// By the labels of the metric, as they are written.
    var series: [String: PrometheusSeries] = [:]
  }

  private struct Families {
    var byName: [String: Family] = [:]
    var count = 0
  }

  private let families = Mutex(Families())

  /// Creates an empty set of metrics.
  public init() {}

  // MARK: The text

  /// The metrics in the text format of Prometheus, ordered by name.
  public var text: String {
    // The values are read one after the other, while others may change.
    let current = families.withLock { $0.byName }
    var lines: [String] = []
    for (name, family) in current.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
      lines.append("# TYPE \(name) \(family.kind.type)")
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
        lines += series.lines(name: name, labels: labels)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// A page with `text`, for a resource of `BrowserOptions`.
  public var page: BrowserOptions.Page {
    BrowserOptions.Page(
      Array(text.utf8), mediaType: "text/plain; version=0.0.4; charset=utf-8")
  }

  // MARK: MetricsFactory

  /// Returns the counter with this name and these dimensions.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter)
  }

  /// Returns the recorder with this name and these dimensions; a gauge unless it aggregates.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .summary : .gauge)
  }

  /// Returns the timer with this name and these dimensions.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .timer)
  }

  /// Removes a counter from the text.
  public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

  /// Removes a recorder from the text.
  public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

  /// Removes a timer from the text.
  public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  /// Returns the metric with the given name and labels, which is created if there is none.
  private func series(
    _ label: String, _ dimensions: [(String, String)], _ kind: PrometheusSeries.Kind
  ) -> PrometheusSeries {
    let name = Self.plain(label) + kind.suffix
    let labels = dimensions.map { "\(Self.plain($0.0))=\"\(Self.escaped($0.1))\"" }.sorted()
      .joined(separator: ",")
    return families.withLock { families in
      let family = families.byName[name] ?? Family(kind: kind)
      let new = PrometheusSeries(kind)
      // A name has one type in the text.
      guard family.kind == kind else { return new }
      if let known = family.series[labels] { return known }
      guard families.count < Self.limit else { return new }
      families.count += 1
      families.byName[name, default: family].series[labels] = new
      return new
    }
  }

  private func remove(_ handler: AnyObject) {
    families.withLock { families in
      for (name, family) in families.byName {
        guard let labels = family.series.first(where: { $0.value === handler })?.key else {
          continue
        }
        families.byName[name]?.series[labels] = nil
        families.count -= 1
      }
    }
  }

  private static func plain(_ label: String) -> String {
    let characters = label.unicodeScalars.map { scalar -> Character in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": Character(scalar)
      default: "_"
      }
    }
    let isNumberFirst = characters.first.map { "0"..."9" ~= $0 } ?? true
    return (isNumberFirst ? "_" : "") + String(characters)
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n")
  }
}
