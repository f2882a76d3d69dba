import CUVLoop
import CaromCore

/// A bound TCP port that hands over streams.
///
/// A stream reads nothing until it has a handler, so what its peer sends during a hand-over waits
/// in the system. Belongs to the loop's thread; dropping it closes it.
public final class TCPListener {
  /// What happens on a listener.
  public enum Event {
    /// A peer connected: keep the stream, or it is closed.
    case accepted(TCPStream)
    /// No descriptors are left: peers wait in the backlog until there are some.
    case paused(TransportError)
    /// Peers are accepted again.
    case resumed
  }

  /// How a listener is opened.
  public struct Options: Hashable, Sendable {
    /// Connections that the system keeps until they are accepted.
    public var backlog = 512
    /// Several listeners share the port and the system spreads peers over them.
    public var reusePort = false
    /// An IPv6 listener takes no IPv4 peers; otherwise they appear with IPv4 addresses.
    public var v6Only = true

    /// A listener for one program alone.
    public init() {}
  }

  /// Between two tries to accept while no descriptors are left; a stream of the same loop that
  /// closes brings the next try forward.
  public static let retryInterval = Duration.milliseconds(50)

  /// The loop that it lives on.
  public let loop: NetworkLoop
  private let core: ListenerCore

  /// Binds and listens; port 0 lets the system choose, see `localEndpoint`.
  public init(
    on loop: NetworkLoop, bind local: Endpoint, options: Options = Options(),
    _ handle: @escaping (Event) -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a listener")
    self.loop = loop
    core = try ListenerCore(loop: loop, bind: local, options: options, handle)
  }

  /// Binds and listens; events arrive inside `owner`, an actor whose executor is the loop, held
  /// weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, bind local: Endpoint, options: Options = Options(),
    _ handle: @escaping (isolated Owner, Event) -> Void
  ) throws(TransportError) {
    let handle = ActorCallbacks(owner, on: loop).bind(handle)
    try self.init(on: loop, bind: local, options: options, handle)
  }

  deinit { loop.core.release(core) }

  /// The address and port that it is bound to.
  public var localEndpoint: Endpoint { core.local }

  /// Whether it still takes connections, perhaps later.
  public var isOpen: Bool { core.isOpen }

  /// Whether it waits for descriptors.
  public var isPaused: Bool { core.isPaused }

  /// Connections accepted so far.
  public var acceptedCount: Int { core.acceptedCount }

  /// How often it ran out of descriptors.
  public var pauseCount: Int { core.pauseCount }

  /// Connections that broke while they were accepted.
  public var lostCount: Int { core.lostCount }

  /// Whether connections are taken; when not, they wait in the backlog.
  public func setAccepting(_ isOn: Bool) {
    loop.preconditionCurrent("a listener")
    core.setAccepting(isOn)
  }

  /// Closes it at once; no callback follows, and streams that were accepted live on.
  public func close() {
    loop.preconditionCurrent("a listener")
    core.close()
  }
}
