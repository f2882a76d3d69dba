import CoreMetrics
import Testing

@testable import CaromServer

@Suite struct PrometheusMetricsTests {
  private let metrics = PrometheusMetrics()

  @Test func `each kind of metric is written as the documentation says`() {
    Counter(label: "carom.joined", factory: metrics).increment(by: 3)
    Gauge(label: "carom.peers", factory: metrics).record(7)
    let loss = Recorder(label: "carom.loss", aggregate: true, factory: metrics)
    for value in [0.25, 0.5] { loss.record(value) }
    let roundTrip = Timer(label: "carom.roundtrip", factory: metrics)
    for nanoseconds in [250_000_000, 1_500_000_000] as [Int64] {
      roundTrip.recordNanoseconds(nanoseconds)
    }
    #expect(
      metrics.text == """
        # TYPE carom_joined_total counter
        carom_joined_total 3
        # TYPE carom_loss summary
        carom_loss_sum 0.75
        carom_loss_count 2
        # TYPE carom_peers gauge
        carom_peers 7.0
        # TYPE carom_roundtrip_seconds summary
        carom_roundtrip_seconds_sum 1.75
        carom_roundtrip_seconds_count 2

        """)
    #expect(metrics.page.mediaType == "text/plain; version=0.0.4; charset=utf-8")
    #expect(metrics.page.bytes == Array(metrics.text.utf8) && metrics.page.isAvailable)
  }

  @Test func `a counter that is made again goes on, and a gauge has its last value`() {
    for _ in 0..<2 {
      Counter(label: "a", dimensions: [("x", "1"), ("b", "2")], factory: metrics).increment()
      Counter(label: "a", dimensions: [("b", "2"), ("x", "1")], factory: metrics).increment()
    }
    for value in [5, 2] { Gauge(label: "g", factory: metrics).record(value) }
    #expect(
      metrics.text
        == "# TYPE a_total counter\na_total{b=\"2\",x=\"1\"} 4\n# TYPE g gauge\ng 2.0\n")
  }

  @Test func `names and values are written so that Prometheus can read them`() {
    let dimensions = [("path.of", "a\\b\"c\nd"), ("2nd", "é")]
    Counter(label: "1st-größe", dimensions: dimensions, factory: metrics).increment()
    #expect(
      metrics.text.hasSuffix("\n_1st_gr__e_total{_2nd=\"é\",path_of=\"a\\\\b\\\"c\\nd\"} 1\n"))
  }

  @Test func `a name has one kind, and a counter does not overflow`() {
    let counter = Counter(label: "a", factory: metrics)
    counter.increment(by: Int64.max)
    counter.increment(by: 1)
    Recorder(label: "a_total", aggregate: true, factory: metrics).record(1)
    #expect(metrics.text == "# TYPE a_total counter\na_total \(Int64.max)\n")
  }

  @Test func `beyond the limit, metrics do not appear until others are removed`() {
    let counters = (0..<PrometheusMetrics.limit).map { number in
      Counter(label: "a", dimensions: [("n", "\(number)")], factory: metrics)
    }
    Counter(label: "b", factory: metrics).increment()
    #expect(!metrics.text.contains("b_total"))
    counters[0].destroy()
    Counter(label: "b", factory: metrics).increment()
    #expect(metrics.text.contains("b_total 1\n"))
    #expect(!metrics.text.contains("n=\"0\""))
  }

  @Test func `the metrics of sessions are there before anything has happened`() {
    _ = SessionMetrics(factory: metrics)
    #expect(metrics.text.contains("carom_turned_away_total 0\n"))
    #expect(metrics.text.contains("carom_bytes_sent_total 0\n"))
    #expect(metrics.text.contains("carom_peers 0.0\n"))
  }
}
