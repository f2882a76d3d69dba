import CUVLoop
import CaromCore

/// A TCP socket that listens on a port and accepts streams.
///
/// An accepted stream reads nothing until it has a handler; until then the peer's bytes stay in the
/// kernel. Not `Sendable`: all members must be used on the loop's thread. Releasing the listener
/// closes it.
public final class TCPListener {
  /// An event that a listener reports to its handler.
  public enum Event {
    /// A peer has connected. The stream is closed unless the handler retains it.
    case accepted(TCPStream)
    /// The system has no file descriptors or no memory left. Peers wait in the backlog until
    /// `resumed`.
    case paused(TransportError)
    /// The listener accepts connections again.
    case resumed
  }

  /// The options of a listener.
  public struct Options: Hashable, Sendable {
    /// The maximum number of connections that wait in the system until they are accepted.
    public var backlog = 512
    /// Whether several listeners may share the port. The system distributes peers over the
    /// listeners (SO_REUSEPORT).
    public var reusePort = false
    /// Whether an IPv6 listener accepts only IPv6 peers. Otherwise it also accepts IPv4 peers, and
    /// reports their addresses as IPv4 addresses.
    public var v6Only = true

    /// Creates options for a listener that does not share its port.
    public init() {}
  }

  /// The interval between attempts to accept while no descriptors are left. When a stream of the
  /// same loop closes, the next attempt follows at once.
  public static let retryInterval = Duration.milliseconds(50)

  /// The loop on whose thread the listener must be used.
  public let loop: NetworkLoop
  private let core: ListenerCore

  /// Creates a listener that is bound to `local`. With port 0 the system chooses a port, which
  /// `localEndpoint` returns.
  public init(
    on loop: NetworkLoop, bind local: Endpoint, options: Options = Options(),
    _ handle: @escaping (Event) -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a listener")
    self.loop = loop
    core = try ListenerCore(loop: loop, bind: local, options: options, handle)
  }

  /// Creates a listener that calls `handle` isolated to `owner`, an actor whose executor is the
  /// loop. The listener holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, bind local: Endpoint, options: Options = Options(),
    _ handle: @escaping (isolated Owner, Event) -> Void
  ) throws(TransportError) {
    let handle = ActorCallbacks(owner, on: loop).bind(handle)
    try self.init(on: loop, bind: local, options: options, handle)
  }

  deinit { loop.core.release(core) }

  /// The address and port that the listener is bound to.
  public var localEndpoint: Endpoint { core.local }

  /// Whether the listener is open; it may be paused.
  public var isOpen: Bool { core.isOpen }

  /// Whether the listener has paused because no descriptors are left.
  public var isPaused: Bool { core.isPaused }

  /// The number of connections accepted so far.
  public var acceptedCount: Int { core.acceptedCount }

  /// How many times the listener has paused because no descriptors were left.
  public var pauseCount: Int { core.pauseCount }

  /// The number of connections that were lost before or while they were being accepted.
  public var lostCount: Int { core.lostCount }

  /// Sets whether connections are accepted. While `isOn` is false, new connections wait in the
  /// backlog.
  public func setAccepting(_ isOn: Bool) {
    loop.preconditionCurrent("a listener")
    core.setAccepting(isOn)
  }

  /// Closes the listener at once. The handler is not called again, and accepted streams stay open.
  public func close() {
    loop.preconditionCurrent("a listener")
    core.close()
  }
}
