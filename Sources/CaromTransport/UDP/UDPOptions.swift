import CUVLoop
import CaromCore

/// The options of a `UDPSocket`.
public struct UDPOptions: Hashable, Sendable {
  /// Whether other sockets with the same option may bind the same port, as multicast receivers do
  /// (SO_REUSEADDR).
  public var reuseAddress = false
  /// Whether several sockets may share the port. The system then assigns each sender to one of the
  /// sockets (SO_REUSEPORT).
  public var reusePort = false
  /// Whether an IPv6 socket receives only IPv6 datagrams. Otherwise it also receives IPv4
  /// datagrams, whose sources are IPv4 addresses.
  public var v6Only = true
  /// Whether the socket receives the datagrams of every group that any socket on this host has
  /// joined, instead of only the groups that this socket has joined.
  public var receivesAllGroups = false
  /// Whether consecutive datagrams of the same length to the same peer are passed to the kernel as
  /// one buffer, which it segments (UDP_SEGMENT on Linux). The packets on the wire are the same.
  public var usesSegmentation = true
  /// Whether IP fragmentation is disabled, so that datagrams that are too long for the path are
  /// lost and a protocol can search for the path MTU (RFC 8899). The option has an effect only on
  /// Linux.
  public var probesMTU = false
  /// Whether the interface, the destination address and the hop limit of each datagram are
  /// received. Without them, each datagram costs the system less work.
  public var receivesPacketInfo = true
  /// The size of the kernel's receive buffer, in bytes; 0 selects the system's default.
  public var receiveBuffer = 0
  /// The size of the kernel's send buffer, in bytes; 0 selects the system's default.
  public var sendBuffer = 0
  /// The size of the largest datagram that is received without being truncated, in bytes. The
  /// socket allocates 64 buffers of this size.
  public var largestDatagram = 2048
  /// The limit of the send queue, in bytes. Datagrams that would exceed the limit are dropped and
  /// counted.
  public var queueLimit = 1 << 20
  /// Bytes for a proxy that are added to each datagram that is sent; nil if there are none.
  public var sentRouting: DatagramRouting?
  /// Bytes that are removed from each received datagram that carries them; nil if there are none.
  public var receivedRouting: DatagramRouting?

  /// Creates options for a socket that does not share its port.
  public init() {}

  func c(_ local: Endpoint) -> cuv_udp_options {
    precondition((1...65536).contains(largestDatagram), "a datagram has 1 to 65,536 bytes")
    return cuv_udp_options(
      local: local.c, reuse_address: reuseAddress, reuse_port: reusePort, v6_only: v6Only,
      receives_all_groups: receivesAllGroups, segments: usesSegmentation,
      probes_mtu: probesMTU, packet_info: receivesPacketInfo,
      receive_buffer: UInt32(clamping: receiveBuffer),
      send_buffer: UInt32(clamping: sendBuffer), largest_datagram: UInt32(largestDatagram),
      queue_limit: UInt32(clamping: queueLimit))
  }
}
