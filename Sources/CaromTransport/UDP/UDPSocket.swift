import CUVLoop
import CaromCore

/// A bound UDP socket that receives and sends datagrams in batches.
///
/// Not `Sendable`: all members must be used on the loop's thread. Releasing the socket closes it.
/// The documentation of `NetworkLoop` shows how an actor owns a socket.
public final class UDPSocket {
  /// The maximum number of datagrams that one system call sends or receives.
  public static let batchSize = Int(CUV_UDP_BATCH)

  /// The loop on whose thread the socket must be used.
  public let loop: NetworkLoop
  private let core: UDPCore

  /// Creates a socket that is bound to `local`. With port 0 the system chooses a port, which
  /// `localEndpoint` returns.
  public init(
    on loop: NetworkLoop, bind local: Endpoint = Endpoint(.any4, port: 0),
    options: UDPOptions = UDPOptions(), _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a UDP socket")
    self.loop = loop
    core = try UDPCore(core: loop.core, bind: local, options: options, receive)
  }

  /// Creates a bound socket that calls `receive` isolated to `owner`, an actor whose executor is
  /// the loop. The socket holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, bind local: Endpoint = Endpoint(.any4, port: 0),
    options: UDPOptions = UDPOptions(),
    _ receive: @escaping (isolated Owner, borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    let receive = ActorCallbacks(owner, on: loop).bindBorrowing(receive)
    try self.init(on: loop, bind: local, options: options, receive)
  }

  deinit { loop.core.release(core) }

  /// The address and port that the socket is bound to.
  public var localEndpoint: Endpoint { core.local }

  /// Whether the socket is open.
  public var isOpen: Bool { core.isOpen }

  /// Closes the socket at once. Queued datagrams are discarded, and the handler is not called
  /// again.
  public func close() {
    loop.preconditionCurrent("a UDP socket")
    core.close()
  }

  /// Copies a datagram into the send queue; `flush` sends it.
  ///
  /// `interface` is the index of the interface to send on; 0 lets the system's routes decide.
  /// Returns false if the datagram was dropped because the queue is full or the socket is closed.
  @discardableResult
  public func send(_ payload: Span<UInt8>, to peer: Endpoint, interface: UInt32 = 0) -> Bool {
    core.send(payload, to: peer, interface: interface)
  }

  /// Copies a datagram into the send queue; `flush` sends it.
  @discardableResult
  public func send(_ payload: [UInt8], to peer: Endpoint, interface: UInt32 = 0) -> Bool {
    core.send(payload.span, to: peer, interface: interface)
  }

  /// Passes the queued datagrams to the system, up to 64 per system call. Datagrams for which the
  /// socket's send buffer has no room stay queued and are sent as soon as there is room. A datagram
  /// that the system rejects is dropped, counted in `sendErrors` and described by `lastSendError`.
  public func flush() { core.flush() }

  /// The number of payload bytes in the send queue.
  public var queuedBytes: Int { core.queuedBytes }

  /// The counters of the socket's datagrams since the socket was opened.
  public var counters: UDPCounters { core.counters }

  /// The error of the last datagram that the system rejected; nil if it rejected none.
  public var lastSendError: TransportError? { core.lastSendError }
}

// Multicast and hop limits
extension UDPSocket {
  /// Joins the multicast group `group` on the interface with index `interface`.
  public func join(_ group: IPAddress, on interface: UInt32) throws(TransportError) {
    try core.membership(group, on: interface, join: true)
  }

  /// Leaves the multicast group `group` on the interface with index `interface`.
  public func leave(_ group: IPAddress, on interface: UInt32) throws(TransportError) {
    try core.membership(group, on: interface, join: false)
  }

  /// Sets the index of the interface on which multicast datagrams are sent.
  public func setMulticastInterface(_ interface: UInt32) throws(TransportError) {
    try core.set("choose an interface") { unsafe cuv_udp_multicast_interface($0, interface) }
  }

  /// Sets whether sockets on this host, this socket included, receive the multicast datagrams that
  /// this socket sends.
  public func setMulticastLoopback(_ isOn: Bool) throws(TransportError) {
    try core.set("set multicast loopback") { unsafe cuv_udp_multicast_loop($0, isOn) }
  }

  /// Sets the IPv4 time to live or the IPv6 hop limit of multicast datagrams.
  public func setMulticastHopLimit(_ hops: UInt8) throws(TransportError) {
    try core.set("set the hop limit") { unsafe cuv_udp_hop_limit($0, true, Int32(hops)) }
  }

  /// Sets the IPv4 time to live or the IPv6 hop limit of unicast datagrams.
  public func setHopLimit(_ hops: UInt8) throws(TransportError) {
    try core.set("set the hop limit") { unsafe cuv_udp_hop_limit($0, false, Int32(hops)) }
  }
}

// Sockets of other processes
extension UDPSocket {
  /// Returns the addresses to which the UDP sockets of all processes on this host are bound at
  /// `port`, once for each socket. Wildcard sockets have the address 0.0.0.0 or ::. Returns nil if
  /// the system does not provide the list. Call this method on a loop's thread, since it lists the
  /// sockets of the calling thread's network namespace.
  public static func addresses(boundTo port: UInt16) -> [IPAddress]? {
    var capacity = 64
    while true {
      var endpoints = [cuv_endpoint](repeating: cuv_endpoint(), count: capacity)
      let count = Int(unsafe cuv_udp_bound(port, &endpoints, capacity))
      if count < 0 { return nil }
      if count <= capacity { return endpoints.prefix(count).map { Endpoint($0).address } }
      capacity = count * 2
    }
  }
}
