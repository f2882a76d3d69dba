import CaromCore
import CaromProtocol

extension PeerInfo {
  /// The maximum length of a name, in bytes of UTF-8.
  public static let maximumNameLength = PeerID.maximumNameLength

  /// Creates a description of a peer whose id is random. An encrypted session ignores the id:
  /// there, a peer's id follows from its key (see `SessionSecurity`). Traps if the name or the
  /// application exceeds its maximum length; `name(from:)` makes a name of any text.
  public init(
    name: String, application: String, applicationVersion: UInt16 = 1, yieldsSeat: Bool = false,
    isSpectator: Bool = false
  ) {
    self.init(
      id: .random(), name: name, application: application, applicationVersion: applicationVersion,
      yieldsSeat: yieldsSeat, isSpectator: isSpectator)
  }

  /// Returns a name made of a text that a person has entered: without control characters, line
  /// breaks and spaces at both ends, and cut to `maximumNameLength` bytes at a character.
  public static func name(from text: String) -> String {
    let clean = text.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    // The prefix bounds the work for a text of any length; no name has more characters than bytes.
    var name = String(
      String(String.UnicodeScalarView(clean)).trimmedOfSpaces.prefix(maximumNameLength))
    while name.utf8.count > maximumNameLength { name.removeLast() }
    return name.trimmedOfSpaces
  }
}

extension String {
  /// The text without spaces at both ends.
  fileprivate var trimmedOfSpaces: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }
}
