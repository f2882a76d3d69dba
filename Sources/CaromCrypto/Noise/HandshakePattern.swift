/// A handshake pattern of the Noise Protocol Framework (revision 34, sections 7 and 9): what each
/// message of the handshake carries, and which keys the two sides must have before it.
///
/// A pattern's letters say how the initiator's and the responder's static keys become known to the
/// other side: `N` means that there is no such key, `K` that it is known beforehand, `X` that it is
/// sent encrypted, and `I` that the initiator sends it in the first message.
package struct HandshakePattern: Hashable, Sendable {
  /// A step in writing or reading a message.
  enum Token: Hashable {
    /// The sender's ephemeral public key.
    case e
    /// The sender's static public key.
    case s
    /// A Diffie-Hellman operation on two keys, each ephemeral (e) or static (s). The first letter
    /// stands for the initiator's key, the second for the responder's.
    case ee, es, se, ss
    /// The pre-shared key.
    case psk
  }

  /// The pattern's name, such as "XXpsk3".
  package let name: String
  /// Whether the responder knows the initiator's static key before the handshake.
  let knowsInitiator: Bool
  /// Whether the initiator knows the responder's static key before the handshake.
  let knowsResponder: Bool
  /// The tokens of each message. The initiator sends the first, and the sides take turns.
  let messages: [[Token]]

  /// Whether the pattern mixes in a pre-shared key.
  var usesPresharedKey: Bool { messages.joined().contains(.psk) }

  /// Both sides send their static keys, and neither needs to know the other's.
  package static let xx = HandshakePattern("XX")!
  /// The initiator knows the host's static key, and may send data in the first message.
  package static let ik = HandshakePattern("IK")!
  /// Like `xx`, but both sides also prove that they have a pre-shared key.
  package static let xxpsk3 = HandshakePattern("XXpsk3")!
  /// Both sides have a pre-shared key, and no static keys. The first message may carry data.
  package static let nnpsk0 = HandshakePattern("NNpsk0")!

  /// Creates the interactive pattern with this name: two letters and, if a pre-shared key is used,
  /// "psk" and its position, from 0 up to the number of messages. Returns nil for other names.
  package init?(_ name: String) {
    let base = name.prefix(2)
    guard var messages = Self.interactive[String(base)] else { return nil }
    if name != base {
      guard name.dropFirst(2).hasPrefix("psk"), let position = Int(name.dropFirst(5)),
        name == "\(base)psk\(position)", (0...messages.count).contains(position)
      else { return nil }
      // Position 0 is the beginning of the first message, position n the end of message n.
      if position == 0 {
        messages[0].insert(.psk, at: 0)
      } else {
        messages[position - 1].append(.psk)
      }
    }
    self.name = name
    self.messages = messages
    knowsInitiator = base.first == "K"
    knowsResponder = base.last == "K"
  }

  /// The fundamental interactive patterns (section 7.5).
  private static let interactive: [String: [[Token]]] = [
    "NN": [[.e], [.e, .ee]],
    "NK": [[.e, .es], [.e, .ee]],
    "NX": [[.e], [.e, .ee, .s, .es]],
    "KN": [[.e], [.e, .ee, .se]],
    "KK": [[.e, .es, .ss], [.e, .ee, .se]],
    "KX": [[.e], [.e, .ee, .se, .s, .es]],
    "XN": [[.e], [.e, .ee], [.s, .se]],
    "XK": [[.e, .es], [.e, .ee], [.s, .se]],
    "XX": [[.e], [.e, .ee, .s, .es], [.s, .se]],
    "IN": [[.e, .s], [.e, .ee, .se]],
    "IK": [[.e, .es, .s, .ss], [.e, .ee, .se]],
    "IX": [[.e, .s], [.e, .ee, .se, .s, .es]],
  ]
}
