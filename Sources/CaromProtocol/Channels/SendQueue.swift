import CaromCore

/// The messages of a lane that wait to be sent for the first time.
///
/// The first message is stored in the queue itself. Most queues never hold a second one, so sending
/// a message touches no memory apart from that of its lane.
struct SendQueue: Sendable {
  /// The first message; nil if the queue is empty.
  private(set) var first: SendMessage?
  private var others = Deque<SendMessage>()

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : others.count + 1 }

  @inline(__always) mutating func append(_ message: SendMessage) {
    if first == nil { first = message } else { others.append(message) }
  }

  @inline(__always) @discardableResult
  mutating func popFirst() -> SendMessage? {
    let removed = first
    first = others.isEmpty ? nil : others.popFirst()
    return removed
  }

  /// Accesses the message at `position`, counted from the front.
  subscript(position: Int) -> SendMessage {
    get {
      guard position == 0 else { return others[position - 1] }
      guard let first else { preconditionFailure("the position is outside the queue") }
      return first
    }
    set {
      precondition(position < count, "the position is outside the queue")
      if position == 0 { first = newValue } else { others[position - 1] = newValue }
    }
  }

  /// Frees unused capacity.
  mutating func trim() { others.trim() }
}
