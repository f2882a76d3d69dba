import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import CoreMetrics
import Synchronization

/// The metrics of a session, for swift-metrics. All labels begin with `carom.`. No label identifies
/// a peer, so the number of labels does not grow with the number of peers.
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
  /// The number of bytes sent and the number received, at the time of the last report.
  private let reported = Mutex((sent: UInt64(0), received: UInt64(0)))

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
  }

  func count(_ event: PeerEvent) {
    switch event {
    case .joined: joined.increment()
    case .left: left.increment()
    case .interrupted: interrupted.increment()
    case .resumed, .linkChanged, .inputStopped, .inputResumed: break
    }
  }

  func report(_ statistics: [PeerStatistics], sent: UInt64, received: UInt64) {
    peers.record(statistics.count)
    queued.record(statistics.reduce(0) { $0 + $1.bytesQueued })
    for peer in statistics {
      if let duration = peer.roundTrip {
        roundTrip.recordNanoseconds(duration.wholeNanoseconds)
      }
      if peer.link == .datagram { loss.record(peer.lossRate) }
    }
    let (newlySent, newlyReceived) = reported.withLock { reported in
      defer { reported = (sent, received) }
      return (sent - reported.sent, received - reported.received)
    }
    bytesSent.increment(by: Int64(newlySent))
    bytesReceived.increment(by: Int64(newlyReceived))
  }
}

extension Session {
  /// Counts all further events in `metrics`, and reports the state of all peers once per
  /// `interval`, until the session ends or the task is cancelled.
  public func report(to metrics: SessionMetrics, every interval: Duration = .seconds(10)) async {
    await observe { metrics.count($0) }
    var next = loop.now
    while true {
      let loops = await statistics
      var peers: [PeerStatistics] = []
      for peer in await self.peers {
        if let peer = await peer.statistics { peers.append(peer) }
      }
      metrics.report(
        peers, sent: loops.reduce(0) { $0 + $1.bytesSent },
        received: loops.reduce(0) { $0 + $1.bytesReceived })
      next = next.advanced(by: interval)
      do throws(TransportError) { try await loop.sleep(until: next) } catch { return }
    }
  }
}
