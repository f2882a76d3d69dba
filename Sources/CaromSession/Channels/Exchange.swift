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
/// Both sides must declare the same types for the same channel number, and must not send other
/// messages on that channel.
public struct Exchange<Request: PacketCodable, Response: PacketCodable>: Hashable, Sendable {
  /// The number of the channel that carries the requests and responses, 0 to 63.
  public let id: UInt8
  let channel: MessageChannel<ExchangeMessage>

  /// Creates an exchange over the channel `id`. Requests and responses are delivered reliably: in
  /// the order in which they were sent or, if `isOrdered` is false, each as soon as it arrives.
  /// `priority` and `weight` have the same meaning as for `MessageChannel`.
  public init(_ id: UInt8, isOrdered: Bool = true, priority: UInt8 = 4, weight: UInt8 = 1) {
    self.id = id
    channel = MessageChannel(
      id, isOrdered ? .reliableOrdered : .reliableUnordered, priority: priority, weight: weight)
  }
}

/// An empty response, which confirms that the peer has applied a message.
public struct Applied: Hashable, Sendable, PacketCodable {
  /// Creates an empty response.
  public init() {}
  /// Writes nothing, because the response has no content.
  public func encode(into writer: inout PacketWriter) {}
  /// Creates an empty response and reads nothing, because the response has no content.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {}
}
