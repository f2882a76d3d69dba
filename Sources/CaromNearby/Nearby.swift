import CaromCore
import CaromDNS
import CaromDiscovery
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Connects the peers of one service type on the local network.
///
/// In its simplest form, everyone is connected with everyone:
///
/// ```swift
/// try await Nearby("Maya", type: "_chat._udp", on: loop).transceive { nearby in
///   for await line in nearby.session.messages(on: .chat) { print(line.peer.name, line.message) }
/// }
/// ```
///
/// With `run`, peers see each other, and invite each other to join.
public struct Nearby: Sendable {
  /// What a session does on the network by itself.
  public struct Role: OptionSet, Hashable, Sendable {
    /// The bits of the role.
    public let rawValue: UInt8

    /// Creates a role from its raw value.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The session is visible, and other peers can connect to it.
    public static let advertises = Role(rawValue: 1)
    /// The session looks for other peers.
    public static let browses = Role(rawValue: 2)
    /// The session joins every peer that does so as well, and accepts every invitation.
    public static let joinsEveryone = Role(rawValue: 4)
  }

  /// The display name, at most 63 bytes of UTF-8.
  public let name: String
  /// The service type under which the peers find each other.
  public let type: ServiceType
  /// The key-value pairs with which this side describes itself to peers that browse. The keys
  /// `txtvers`, `id` and `name` are reserved. Keep them under 400 bytes in all.
  public var info: TXTRecord = [:]
  /// The network interfaces to use.
  public var interfaces = InterfaceSelection.automatic
  /// The port to listen on. If it is 0, the system chooses the port.
  public var port: UInt16 = 0
  /// The maximum number of connected peers.
  public var limit = 1024
  /// The version of the application's messages. Peers with another version cannot connect.
  public var applicationVersion: UInt16 = 1
  /// The kinds of links that are offered and opened.
  public var kinds = LinkKinds.all
  /// The timeouts of connections.
  public var timing = SessionTiming()
  /// How connections are protected. All peers must use matching security. Unless it is `none`, the
  /// session's id is that of its identity.
  public var security = SessionSecurity.anyone
  private let loop: NetworkLoop

  /// Creates a description of this side. Nothing is sent before `run` or `transceive` is called.
  /// Traps if the name is longer than 63 bytes.
  public init(_ name: String, type: ServiceType, on loop: NetworkLoop) {
    precondition(name.utf8.count <= PeerID.maximumNameLength, "a name must have at most 63 bytes")
    self.name = name
    self.type = type
    self.loop = loop
  }

  /// Connects with every peer of the type that does the same, and runs `body` with the session.
  /// Peers come and go as they start and end; a lost connection is opened again.
  public func transceive<Result>(
    _ body: (NearbySession) async throws -> Result
  ) async throws -> Result {
    try await run([.advertises, .browses, .joinsEveryone], body)
  }

  /// Does on the network what `role` says, and runs `body` with the session. When `body` has
  /// returned or thrown, the advertisement is withdrawn, and the session ends.
  ///
  /// Throws a `DiscoveryError` if the network cannot be used or the name or `info` cannot be
  /// advertised, and a `TransportError` if the port cannot be listened on.
  public func run<Result>(
    _ role: Role, _ body: (NearbySession) async throws -> Result
  ) async throws -> Result {
    let nearby = NearbyNode(self, role, on: loop)
    let gate = try await nearby.prepare()
    return try await Session.run(nearby.node, through: gate) { session in
      do {
        let port = try await nearby.open(session)
        let result = try await body(NearbySession(session: session, port: port, node: nearby))
        // The advertisement is withdrawn before the session says goodbye.
        await nearby.end()
        return result
      } catch {
        await nearby.end()
        throw error
      }
    }
  }
}
