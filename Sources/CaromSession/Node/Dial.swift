import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport

/// The state of a connection that this side opens, from the call to `connect` or `open` until the
/// connection, or the attempt to open it, has ended.
struct Dial {
  /// The connection key that this side presents to the host on both links.
  let key: ConnectionKey
  /// The host's endpoints, kept so that the stream can be dialed again when it ends.
  let endpoints: [Endpoint]
  /// The key that the host advertises; nil if it is not known. It saves a round trip, and proves
  /// nothing.
  let hostKey: PublicKey?
  /// The task that opens the stream; nil if no attempt is in progress.
  var task: Task<Void, Never>?
  /// The task that probes the host's UDP ports; nil if there is none.
  var probing: Task<Void, Never>?
  /// The probes, whose sockets are closed when they are removed.
  var probes: [PortProbe] = []
  /// Whether the host's system reports that no program listens on its UDP port.
  var isPortRefused = false
  /// The suspended call to `connect`. It is resumed with nil when the host has granted the seat,
  /// and with an error if the dial fails.
  var waiter: CheckedContinuation<SessionError?, Never>?
  /// The error of the failed attempt to open the stream, kept while the host may still answer over
  /// datagrams.
  var failure: TransportError?

  init(
    to endpoints: [Endpoint], hostKey: PublicKey? = nil, on loop: NetworkLoop,
    waiter: CheckedContinuation<SessionError?, Never>? = nil
  ) {
    var generator = LoopGenerator(of: loop)
    key = ConnectionKey(using: &generator)
    self.endpoints = endpoints
    self.hostKey = hostKey
    self.waiter = waiter
  }

  mutating func cancelTask() {
    task?.cancel()
    task = nil
    probing?.cancel()
    probing = nil
    probes = []
  }

  mutating func resume(with error: SessionError?) {
    waiter?.resume(returning: error)
    waiter = nil
  }
}
