import CUVLoop
import CaromCore

/// How a `UDPSocket` is opened.
public struct UDPOptions: Hashable, Sendable {
  /// Other sockets may bind the same port if they ask for it too: multicast listeners do.
  public var reuseAddress = false
  /// Several sockets share the port and the system spreads senders over them.
  public var reusePort = false
  /// An IPv6 socket hears no IPv4; otherwise IPv4 peers appear as IPv4 addresses.
  public var v6Only = true
  /// Hears every group that anybody on this host joined, instead of its own alone.
  public var receivesAllGroups = false
  /// Datagrams of one length that are queued for one peer after each other go to the kernel as one
  /// piece, which it cuts up (Linux); what is on the wire is the same.
  public var usesSegmentation = true
  /// Datagrams are never cut into fragments on their way: one that is too long is lost, so that a
  /// protocol can find out how long they may be (RFC 8899). Where the system can (Linux).
  public var probesMTU = false
  /// Datagrams tell by which interface and to which address they came, and their hop limit; who
  /// does not ask for that spares the system some work for each.
  public var receivesPacketInfo = true
  /// The system's buffer for arrived datagrams, bytes; 0 leaves the system's choice.
  public var receiveBuffer = 0
  /// The system's buffer for datagrams to send, bytes; 0 leaves the system's choice.
  public var sendBuffer = 0
  /// Bytes of the largest datagram that arrives whole; 64 of them are set aside.
  public var largestDatagram = 2048
  /// Bytes that may wait until the system takes them; what comes then is dropped and counted.
  public var queueLimit = 1 << 20

  /// A socket for one program alone.
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
