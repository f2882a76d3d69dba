import CaromCore
import CaromProtocol

/// A channel for questions and their answers: each answer finds the question that it belongs to.
///
/// ```swift
/// extension Exchange<MoveRequest, Verdict> { static var moves: Self { .init(9) } }
///
/// let verdict = try await host.request(move, over: .moves, within: .seconds(1))
/// await session.respond(to: .moves) { peer, move in rules.judge(move, by: peer.id) }
/// ```
///
/// Both sides give its number the same meaning, and nothing else goes over that channel.
public struct Exchange<Question: PacketCodable, Answer: PacketCodable>: Hashable, Sendable {
  /// The channel that its messages go over, 0 to 63.
  public let id: UInt8
  let channel: MessageChannel<ExchangeMessage>

  /// Questions and answers go over the channel `id`, each once and in order, or, where
  /// `isOrdered` is not, as soon as they come.
  public init(_ id: UInt8, isOrdered: Bool = true, priority: UInt8 = 4, weight: UInt8 = 1) {
    self.id = id
    channel = MessageChannel(
      id, isOrdered ? .reliableOrdered : .reliableUnordered, priority: priority, weight: weight)
  }
}

/// The answer of whoever has done what a message says.
public struct Applied: Hashable, Sendable, PacketCodable {
  /// It is done.
  public init() {}
  /// Appends nothing.
  public func encode(into writer: inout PacketWriter) {}
  /// Reads nothing.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {}
}
