/// The limit of the queue in front of a bottleneck. Datagrams that arrive at a full queue are
/// dropped, but an empty queue accepts a datagram of any length.
public enum QueueLimit: Hashable, Sendable {
  /// The maximum number of bytes in the queue, including headers and the arriving datagram.
  case bytes(Int)
  /// The maximum queueing delay. A datagram that would wait longer is dropped.
  case time(Duration)

  func check() {
    switch self {
    case .bytes(let count): precondition(count > 0, "a queue must hold at least one byte")
    case .time(let time): precondition(time >= .zero, "a queueing delay must not be negative")
    }
  }
}
