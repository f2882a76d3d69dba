import CaromCore

#if canImport(CaromCrypto)
  import CaromCrypto
#endif

/// The host to which another host sends a player, because the player's match goes on there.
public struct NextHost: Hashable, Sendable {
  /// The maximum number of endpoints.
  public static let endpointLimit = 6
  /// The maximum length of the connect token in bytes.
  static let maximumTokenLength = 768

  /// The endpoints at which the client should try to join, in this order, at most 6. If there are
  /// none, the host knows only that the match is elsewhere.
  public let endpoints: [Endpoint]
  /// The bytes of the connect token, which are secret; empty if there is none.
  let tokenBytes: [UInt8]

  init(at endpoints: [Endpoint], tokenBytes: [UInt8]) {
    self.endpoints = endpoints
    self.tokenBytes = tokenBytes
  }

  /// Creates the description of a host that is somewhere else, nobody knows where.
  package init() { self.init(at: [], tokenBytes: []) }

  /// The same host without its connect token.
  var withoutToken: NextHost { NextHost(at: endpoints, tokenBytes: []) }

  private static func isUsable(_ endpoint: Endpoint) -> Bool {
    let address = endpoint.address
    return endpoint.port != 0 && address != .any4 && address != .any6 && !address.isMulticast
  }
}

#if canImport(CaromCrypto)
  extension NextHost {
    /// Creates the description of a host.
    ///
    /// - Parameters:
    ///   - endpoints: The endpoints at which the client should try to join, at most 6. A client
    ///     must be able to connect to them: ports are not 0, and addresses are neither multicast
    ///     nor unspecified. The scope of a link-local address is not sent.
    ///   - token: The connect token with which this one client joins the host; nil if the host does
    ///     not ask for one.
    public init(at endpoints: [Endpoint] = [], token: ConnectToken? = nil) {
      precondition(endpoints.count <= Self.endpointLimit, "a host has at most 6 endpoints")
      precondition(
        endpoints.allSatisfy(Self.isUsable), "a client must be able to connect to the endpoint")
      self.init(at: endpoints, tokenBytes: token?.bytes ?? [])
    }

    /// The connect token with which this client joins the host; nil if there is none, or if what
    /// the other host has sent is not one.
    public var token: ConnectToken? { try? ConnectToken(decoding: tokenBytes.span) }

    /// Whether the other host has sent a token, or bytes in its place.
    package var hasToken: Bool { !tokenBytes.isEmpty }
  }

  extension NextHost: CustomReflectable {
    /// A mirror that contains only the endpoints, so that `dump` does not show the token.
    public var customMirror: Mirror { Mirror(self, children: ["endpoints": endpoints]) }
  }
#endif

extension NextHost: CustomStringConvertible {
  /// The endpoints, without the token: "10.0.0.1:7777, 10.0.0.2:7777".
  public var description: String {
    var text = ""
    for endpoint in endpoints { text += (text.isEmpty ? "" : ", ") + endpoint.description }
    return text.isEmpty ? "another host" : text
  }
}

extension NextHost: PacketCodable {
  /// Appends the number of endpoints (1 byte), each endpoint as the version of its address (1 byte:
  /// 4 or 6), address and port (2 bytes), and the length of the token (`VarInt`) and the token.
  public func encode(into writer: inout PacketWriter) {
    writer.append(UInt8(endpoints.count))
    for endpoint in endpoints {
      writer.append(endpoint.address.isV6 ? 6 : 4)
      writer.write(endpoint.address.bytes)
      writer.write(endpoint.port)
    }
    writer.writeVarInt(UInt64(tokenBytes.count))
    writer.write(tokenBytes)
  }

  /// Reads a host. Throws if there are more than 6 endpoints, if nobody can connect to one of them,
  /// or if the token has more than 768 bytes. Does not check the token.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let count: UInt8 = try reader.read()
    guard count <= Self.endpointLimit else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(Self.endpointLimit))
    }
    var endpoints: [Endpoint] = []
    for _ in 0..<count { endpoints.append(try Self.readEndpoint(&reader)) }
    let length = try reader.readVarInt()
    guard length <= Self.maximumTokenLength else {
      throw .tooLarge(length: length, limit: UInt64(Self.maximumTokenLength))
    }
    self.init(at: endpoints, tokenBytes: try reader.readBytes(Int(length)))
  }

  private static func readEndpoint(
    _ reader: inout PacketReader
  ) throws(DecodeError) -> Endpoint {
    let version: UInt8 = try reader.read()
    guard version == 4 || version == 6 else { throw .invalid(what: "version of an address") }
    let bytes = try reader.readBytes(version == 4 ? 4 : 16)
    let port: UInt16 = try reader.read()
    guard let address = IPAddress(bytes: bytes) else { throw .invalid(what: "address of a host") }
    let endpoint = Endpoint(address, port: port)
    guard isUsable(endpoint) else { throw .invalid(what: "endpoint of a host") }
    return endpoint
  }
}
