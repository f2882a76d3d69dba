import CaromProtocol
import CaromTransport

/// A stream that a peer has opened, until its protocol is known, and the HTTP request on it.
final class Door {
  /// The time within which the peer has to send the whole head of its request. A TLS handshake
  /// before that has the same time.
  static let headTime = Duration.seconds(10)
  /// The time within which the peer has to read the answer.
  static let answerTime = Duration.seconds(30)

  /// What the peer of a door that becomes a connection has sent.
  enum Entry {
    /// The first bytes of a session's stream.
    case frames([UInt8])
    /// The first bytes of a TLS handshake. The door stays one after that.
    case tls([UInt8])
    /// The opening handshake of a WebSocket, which these bytes answer, with the join code that the
    /// peer has shown, if any.
    case webSocket(answer: [UInt8], code: String?)
  }

  let stream: TCPStream
  let source: SourcePrefix?
  /// The bytes that have arrived, decrypted if TLS carries them, at most `HTTPRequest.headLimit`.
  var head: [UInt8] = []
  /// Whether the answer has been written. What arrives after that is ignored.
  var isAnswered = false
  /// What is handled as soon as the host has the budget for another handshake. Nothing is read
  /// until then.
  var waiting: Entry?
  var timer: LoopTimer?

  init(_ stream: TCPStream) {
    self.stream = stream
    source = SourcePrefix(stream.peerEndpoint.address)
  }
}

/// The open doors of a node, oldest first.
struct Doors {
  /// The maximum number of doors.
  static let limit = 512
  /// The maximum number of doors of one source.
  static let sourceLimit = 64

  private(set) var all: [Door] = []

  /// Adds a door. Returns the oldest door of the same source, or of all, if there are too many now:
  /// it has to be closed.
  mutating func insert(_ door: Door) -> Door? {
    all.append(door)
    var displaced: Door?
    if let source = door.source {
      let same = all.filter { $0.source == source }
      if same.count > Self.sourceLimit { displaced = same.first }
    }
    return displaced ?? (all.count > Self.limit ? all.first : nil)
  }

  /// The oldest door that waits for the budget.
  var firstWaiting: Door? { all.first { $0.waiting != nil } }

  func find(_ id: ObjectIdentifier) -> Door? { all.first { ObjectIdentifier($0) == id } }

  mutating func remove(_ door: Door) { all.removeAll { $0 === door } }
}
