import CaromCore
import CaromProtocol

/// Where the questions of one exchange wait for whoever answers them.
final class RequestQueue<Question: PacketCodable>: Sendable {
  /// The most questions that wait; more are told to come later.
  static var limit: Int { 256 }

  struct Asked: Sendable {
    let peer: Peer
    let number: UInt32
    let question: Question
  }

  let inbox: Inbox<Asked>

  init() {
    inbox = Inbox(limit: Self.limit, overflow: .pause)
  }

  /// Takes a question; `false` where too many wait.
  func take(_ asked: Asked) -> Bool {
    guard inbox.count < Self.limit else { return false }
    _ = inbox.push(asked)
    return true
  }
}
