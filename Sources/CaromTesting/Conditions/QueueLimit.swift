/// How much may wait in front of a link of limited rate; what comes to a full queue is dropped.
///
/// A datagram that finds the queue empty is always taken.
public enum QueueLimit: Hashable, Sendable {
  /// That many bytes, headers and the datagram itself counted.
  case bytes(Int)
  /// What the link carries in that time: a datagram that would wait longer is dropped.
  case time(Duration)

  func check() {
    switch self {
    case .bytes(let count): precondition(count > 0, "a queue holds a byte at least")
    case .time(let time): precondition(time >= .zero, "a queue's time is not negative")
    }
  }
}
