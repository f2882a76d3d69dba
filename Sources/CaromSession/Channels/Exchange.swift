import CaromCore
import CaromProtocol

/// A channel for requests and their responses, which matches each response to its request.
///
/// ```swift
/// extension Exchange<MoveRequest, Verdict> { static var moves: Self { .init(9) } }
///
/// let verdict = try await host.request(move, over: .moves, within: .seconds(1))
/// await session.respond(to: .moves) { peer, move in rules.judge(move, by: peer.id) }
/// ```
///
/// Both types are `PacketCodable`, or both are any `Codable & Sendable` types, which are sent as
/// CBOR. Both sides must declare the same types for the same channel number, and must not send
/// other messages on that channel.
public struct Exchange<Request: Sendable, Response: Sendable>: Sendable {
  /// The number of the channel that carries the requests and responses, 0 to 63.
  public let id: UInt8
  let channel: MessageChannel<ExchangeMessage>
  let requests: any MessageCoding<Request>.Type
  let responses: any MessageCoding<Response>.Type

  private init(
    _ id: UInt8, isOrdered: Bool, priority: UInt8, weight: UInt8,
    requests: any MessageCoding<Request>.Type, responses: any MessageCoding<Response>.Type
  ) {
    self.id = id
    channel = MessageChannel(
      id, isOrdered ? .reliableOrdered : .reliableUnordered, priority: priority, weight: weight)
    self.requests = requests
    self.responses = responses
  }

  func encoded(_ request: Request) throws(SendError) -> [UInt8] {
    var writer = PacketWriter()
    try requests.encode(request, into: &writer)
    return writer.bytes
  }

  func encoded(response: Response) throws(SendError) -> [UInt8] {
    var writer = PacketWriter()
    try responses.encode(response, into: &writer)
    return writer.bytes
  }
}

extension Exchange where Request: PacketCodable, Response: PacketCodable {
  /// Creates an exchange over the channel `id`. Requests and responses are delivered reliably: in
  /// the order in which they were sent or, if `isOrdered` is false, each as soon as it arrives.
  /// `priority` and `weight` have the same meaning as for `MessageChannel`.
  public init(_ id: UInt8, isOrdered: Bool = true, priority: UInt8 = 4, weight: UInt8 = 1) {
    self.init(
      id, isOrdered: isOrdered, priority: priority, weight: weight,
      requests: PacketCoding<Request>.self, responses: PacketCoding<Response>.self)
  }
}

extension Exchange where Request: Codable, Response: Codable {
  /// Creates an exchange over the channel `id`, whose requests and responses are sent as CBOR. The
  /// other parameters are the same as for types that define their own wire format.
  public init(_ id: UInt8, isOrdered: Bool = true, priority: UInt8 = 4, weight: UInt8 = 1) {
    self.init(
      id, isOrdered: isOrdered, priority: priority, weight: weight,
      requests: CBORCoding<Request>.self, responses: CBORCoding<Response>.self)
  }
}

extension Exchange
where Request: PacketCodable & Codable, Response: PacketCodable & Codable {
  /// Creates an exchange over the channel `id`, whose requests and responses are sent in the wire
  /// formats that their types define, and not as CBOR.
  public init(_ id: UInt8, isOrdered: Bool = true, priority: UInt8 = 4, weight: UInt8 = 1) {
    self.init(
      id, isOrdered: isOrdered, priority: priority, weight: weight,
      requests: PacketCoding<Request>.self, responses: PacketCoding<Response>.self)
  }
}

extension Exchange: Hashable {
  /// Returns whether two exchanges use the same channel in the same way.
  public static func == (a: Exchange, b: Exchange) -> Bool { a.channel == b.channel }

  /// Hashes the channel.
  public func hash(into hasher: inout Hasher) { hasher.combine(channel) }
}

/// An empty response, which confirms that the peer has applied a message.
public struct Applied: Hashable, Sendable, Codable, PacketCodable {
  /// Creates an empty response.
  public init() {}
  /// Writes nothing, because the response has no content.
  public func encode(into writer: inout PacketWriter) {}
  /// Creates an empty response and reads nothing, because the response has no content.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {}
}
