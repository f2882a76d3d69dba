import CaromCore
import CaromProtocol

/// A numbered lane of a connection: its messages' type and what is promised for them, declared
/// once.
///
/// ```swift
/// extension Channel<Goal> { static var goals: Self { .init(0, .reliableOrdered) } }
/// ```
public struct Channel<Message: PacketCodable>: Hashable, Sendable {
  /// The number on the wire; both sides give it the same meaning.
  public let id: UInt16
  /// What is promised for its messages.
  public let delivery: Delivery

  /// A lane; numbers are the application's own.
  public init(_ id: UInt16, _ delivery: Delivery) {
    self.id = id
    self.delivery = delivery
  }
}
