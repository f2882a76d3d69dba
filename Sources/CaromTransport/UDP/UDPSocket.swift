import CUVLoop
import CaromCore

/// A bound UDP socket: datagrams arrive in batches and leave in batches.
///
/// Belongs to the loop's thread; dropping it closes it. `NetworkLoop` shows how an actor owns one.
public final class UDPSocket {
  /// Datagrams that one system call takes or gives at most.
  public static let batchSize = Int(CUV_UDP_BATCH)

  /// The loop that it lives on.
  public let loop: NetworkLoop
  private let core: UDPCore

  /// Binds a socket; port 0 lets the system choose, see `localEndpoint`.
  public init(
    on loop: NetworkLoop, bind local: Endpoint = Endpoint(.any4, port: 0),
    options: UDPOptions = UDPOptions(), _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a UDP socket")
    self.loop = loop
    core = try UDPCore(core: loop.core, bind: local, options: options, receive)
  }

  /// Binds a socket whose datagrams are received inside `owner`, an actor whose executor is the
  /// loop, held weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, bind local: Endpoint = Endpoint(.any4, port: 0),
    options: UDPOptions = UDPOptions(),
    _ receive: @escaping (isolated Owner, borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    let receive = ActorCallbacks(owner, on: loop).bind(receive)
    try self.init(on: loop, bind: local, options: options, receive)
  }

  deinit { loop.core.release(core) }

  /// The address and port that it is bound to.
  public var localEndpoint: Endpoint { core.local }

  /// Whether it can still be used.
  public var isOpen: Bool { core.isOpen }

  /// Closes it at once; what was not flushed is lost, and no callback follows.
  public func close() {
    loop.preconditionCurrent("a UDP socket")
    core.close()
  }

  /// Puts a copy of a datagram into the queue; `flush` sends it.
  ///
  /// `interface` is the index of the one to leave by, where the routes shall not decide. Returns
  /// false when the queue was full and the datagram was dropped.
  @discardableResult
  public func send(_ payload: Span<UInt8>, to peer: Endpoint, interface: UInt32 = 0) -> Bool {
    core.send(payload, to: peer, interface: interface)
  }

  /// Puts a datagram into the queue; `flush` sends it.
  @discardableResult
  public func send(_ payload: [UInt8], to peer: Endpoint, interface: UInt32 = 0) -> Bool {
    core.send(payload.span, to: peer, interface: interface)
  }

  /// Hands the queue to the system, up to 64 datagrams a call. What the system has no room for
  /// leaves when it has.
  public func flush() { core.flush() }

  /// Payload bytes that wait in the queue.
  public var queuedBytes: Int { core.queuedBytes }

  /// What happened to its datagrams.
  public var counters: UDPCounters { core.counters }

  /// Why the system refused the last datagram that it refused.
  public var lastSendError: TransportError? { core.lastSendError }
}

// Multicast and hop limits
extension UDPSocket {
  /// Hears `group` on the interface of that index.
  public func join(_ group: IPAddress, on interface: UInt32) throws(TransportError) {
    try core.membership(group, on: interface, join: true)
  }

  /// Hears `group` on that interface no longer.
  public func leave(_ group: IPAddress, on interface: UInt32) throws(TransportError) {
    try core.membership(group, on: interface, join: false)
  }

  /// Multicast datagrams leave by the interface of that index.
  public func setMulticastInterface(_ interface: UInt32) throws(TransportError) {
    try core.set("choose an interface") { unsafe cuv_udp_multicast_interface($0, interface) }
  }

  /// Whether this host hears what the socket sends to groups.
  public func setMulticastLoopback(_ isOn: Bool) throws(TransportError) {
    try core.set("set multicast loopback") { unsafe cuv_udp_multicast_loop($0, isOn) }
  }

  /// How many routers a multicast datagram may pass: IPv4 time to live, IPv6 hop limit.
  public func setMulticastHopLimit(_ hops: UInt8) throws(TransportError) {
    try core.set("set the hop limit") { unsafe cuv_udp_hop_limit($0, true, Int32(hops)) }
  }

  /// How many routers a unicast datagram may pass: IPv4 time to live, IPv6 hop limit.
  public func setHopLimit(_ hops: UInt8) throws(TransportError) {
    try core.set("set the hop limit") { unsafe cuv_udp_hop_limit($0, false, Int32(hops)) }
  }
}
