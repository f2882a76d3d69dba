import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import CoreMetrics
import Synchronization

/// The metrics of one or more sessions, for swift-metrics. All labels begin with `carom.`. No label
/// identifies a peer, so the number of labels does not grow with the number of peers. Each gauge is
/// the total of all sessions that are currently reporting.
///
/// | label | kind | value |
/// |---|---|---|
/// | `carom.peers` | gauge | connected peers |
/// | `carom.joined`, `carom.left` | counters | peers that have joined and left |
/// | `carom.interrupted` | counter | connections that have lost every link |
/// | `carom.bytes.sent`, `carom.bytes.received` | counters | bytes of datagrams and streams |
/// | `carom.roundtrip` | timer | smoothed round-trip time, once for each peer and report |
/// | `carom.loss` | recorder | fraction of datagrams lost recently, once for each peer and report |
/// | `carom.queued` | gauge | bytes of reliable messages that are queued or unacknowledged |
/// | `carom.turned.away` | counter | strangers that were dropped, refused or had to wait |
public final class SessionMetrics: Sendable {
  private let peers: Gauge
  private let joined: Counter
  private let left: Counter
  private let interrupted: Counter
  private let bytesSent: Counter
  private let bytesReceived: Counter
  private let roundTrip: CoreMetrics.Timer
  private let loss: Recorder
  private let queued: Gauge
  private let turnedAway: Counter
  private let reports = Mutex(Reports())

  /// The sessions that are currently reporting.
  private struct Reports {
    var lastNumber = 0
    var sessions: [Int: Report] = [:]
  }

  /// The last report of one session.
  private struct Report {
    var totals: Totals
    var peers = 0
    var queued = 0
  }

  /// What the loops of a session have counted since the session began.
  struct Totals {
    /// The number of bytes that were sent, and the number of those that were received.
    var sent: UInt64 = 0
    var received: UInt64 = 0
    /// The number of strangers that were dropped, refused or had to wait.
    var turnedAway: UInt64 = 0
  }

  /// Creates the metrics. `factory` makes the counters, gauges, timers and recorders.
  public init(factory: any MetricsFactory = MetricsSystem.factory) {
    peers = Gauge(label: "carom.peers", factory: factory)
    joined = Counter(label: "carom.joined", factory: factory)
    left = Counter(label: "carom.left", factory: factory)
    interrupted = Counter(label: "carom.interrupted", factory: factory)
    bytesSent = Counter(label: "carom.bytes.sent", factory: factory)
    bytesReceived = Counter(label: "carom.bytes.received", factory: factory)
    roundTrip = CoreMetrics.Timer(label: "carom.roundtrip", factory: factory)
    loss = Recorder(label: "carom.loss", factory: factory)
    queued = Gauge(label: "carom.queued", factory: factory)
    turnedAway = Counter(label: "carom.turned.away", factory: factory)
  }

  /// Begins the reports of a session whose loops have counted `totals` so far. Returns the number
  /// that identifies the session in calls to the other methods.
  func begin(_ totals: Totals) -> Int {
    reports.withLock { reports in
      reports.lastNumber += 1
      reports.sessions[reports.lastNumber] = Report(totals: totals)
      return reports.lastNumber
    }
  }

  /// Counts an event of a session, unless the reports of the session have ended.
  func count(_ event: PeerEvent, of session: Int) {
    guard reports.withLock({ $0.sessions[session] != nil }) else { return }
    switch event {
    case .joined: joined.increment()
    case .left: left.increment()
    case .interrupted: interrupted.increment()
    case .resumed, .linkChanged, .inputStopped, .inputResumed, .malformed, .refused, .wrongCode,
      .missed:
      break
    }
  }

  func report(_ statistics: [PeerStatistics], _ totals: Totals, of session: Int) {
    reports.withLock { reports in
      count(totals, of: session, &reports)
      reports.sessions[session]?.peers = statistics.count
      reports.sessions[session]?.queued = statistics.reduce(0) { $0 + $1.bytesQueued }
      recordGauges(reports)
    }
    for peer in statistics {
      if let duration = peer.roundTrip {
        roundTrip.recordNanoseconds(duration.wholeNanoseconds)
      }
      if peer.link == .datagram { loss.record(peer.lossRate) }
    }
  }

  /// Ends the reports of a session, after counting its last bytes.
  func end(_ totals: Totals, of session: Int) {
    reports.withLock { reports in
      count(totals, of: session, &reports)
      reports.sessions[session] = nil
      recordGauges(reports)
    }
  }

  private func count(_ totals: Totals, of session: Int, _ reports: inout Reports) {
    guard let last = reports.sessions[session]?.totals else { return }
    bytesSent.increment(by: Int64(totals.sent - last.sent))
    bytesReceived.increment(by: Int64(totals.received - last.received))
    turnedAway.increment(by: Int64(totals.turnedAway - last.turnedAway))
    reports.sessions[session]?.totals = totals
  }

  private func recordGauges(_ reports: Reports) {
    peers.record(reports.sessions.values.reduce(0) { $0 + $1.peers })
    queued.record(reports.sessions.values.reduce(0) { $0 + $1.queued })
  }
}

extension Session {
  /// From now on, counts all events and bytes of the session in `metrics`, and reports the state of
  /// all peers once per `interval`, until the session ends or the task is cancelled.
  public func report(to metrics: SessionMetrics, every interval: Duration = .seconds(10)) async {
    let session = metrics.begin(await totals)
    await observe { metrics.count($0, of: session) }
    await withTaskGroup { tasks in
      tasks.addTask { await report(to: metrics, as: session, every: interval) }
      tasks.addTask { await waitForEnd() }
      await tasks.next()
      tasks.cancelAll()
    }
    metrics.end(await totals, of: session)
  }

  /// Reports the state of all peers until the task is cancelled or the loop shuts down.
  private func report(
    to metrics: SessionMetrics, as session: Int, every interval: Duration
  ) async {
    var next = loop.now
    while true {
      var peers: [PeerStatistics] = []
      for peer in await self.peers {
        if let peer = await peer.statistics { peers.append(peer) }
      }
      metrics.report(peers, await totals, of: session)
      next = next.advanced(by: interval)
      do throws(TransportError) { try await loop.sleep(until: next) } catch { return }
    }
  }

  /// What all loops have counted.
  private var totals: SessionMetrics.Totals {
    get async {
      await statistics.reduce(into: SessionMetrics.Totals()) {
        $0.sent += $1.bytesSent
        $0.received += $1.bytesReceived
        $0.turnedAway += $1.strangersDropped + $1.strangersRefused + $1.handshakesPostponed
      }
    }
  }
}
