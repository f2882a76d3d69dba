import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import CoreMetrics
import Synchronization

/// What a session counts, for swift-metrics. Labels begin with `carom.`; none names a peer, so that
/// their number stays the same however many come.
///
/// | label | kind | what |
/// |---|---|---|
/// | `carom.peers` | gauge | peers that are connected |
/// | `carom.joined`, `carom.left` | counters | peers that came and went |
/// | `carom.interrupted` | counter | connections that lost every link |
/// | `carom.bytes.sent`, `carom.bytes.received` | counters | bytes of datagrams and streams |
/// | `carom.roundtrip` | timer | smoothed round trips, one a peer and report |
/// | `carom.loss` | recorder | share of datagrams lost, one a peer and report |
/// | `carom.queued` | gauge | bytes of reliable messages that wait or are not acknowledged |
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
  private let seen = Mutex((sent: UInt64(0), received: UInt64(0)))

  /// Metrics of the system's factory, or another.
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
    let (newlySent, newlyReceived) = seen.withLock { seen in
      defer { seen = (sent, received) }
      return (sent - seen.sent, received - seen.received)
    }
    bytesSent.increment(by: Int64(newlySent))
    bytesReceived.increment(by: Int64(newlyReceived))
  }
}

extension Session {
  /// Counts events for `metrics` from now on, and reports the state of all peers at each
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
