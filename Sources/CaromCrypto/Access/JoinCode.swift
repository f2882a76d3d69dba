/// A short secret that a host shows and players type in to join, such as "K7QM-2XRT".
///
/// It has 40 random bits. That suffices because a guess can only be tested by asking the host,
/// which limits the attempts. `description` does not show the code.
public struct JoinCode: Hashable, Sendable {
  /// The number of characters.
  public static let length = 8
  /// The maximum length of a string that is read as a code, in UTF-8 bytes.
  public static let maximumText = 64
  /// The characters, each of which stands for five bits: all digits, and the letters except I, L, O
  /// and U, which could be mistaken for other characters.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  /// The characters as numbers from 0 to 31.
  private let values: [UInt8]

  /// Creates a new code. `generator` must be unpredictable, as the system's is.
  public init(using generator: inout some RandomNumberGenerator) {
    values = (0..<Self.length).map { _ in .random(in: 0...31, using: &generator) }
  }

  /// Reads a code that a person typed. Lower case counts as upper case; I and L as 1, O as 0, and U
  /// as V. Spaces, hyphens and dashes are skipped.
  public init(_ text: some StringProtocol) throws(JoinCodeError) {
    guard text.utf8.count <= Self.maximumText else { throw .wrongLength }
    var values: [UInt8] = []
    for character in text where !Self.isSeparator(character) {
      guard let value = Self.value(of: character) else { throw .invalid(character) }
      values.append(value)
    }
    guard values.count == Self.length else { throw .wrongLength }
    self.values = values
  }

  /// The eight characters in two groups, for people: "K7QM-2XRT".
  public var text: String {
    let characters = values.map { Self.alphabet[Int($0)] }
    return String(characters.prefix(4)) + "-" + String(characters.suffix(4))
  }

  /// The password for the password exchange: the code's eight characters in upper case, in ASCII.
  package var password: SecretBytes {
    var bytes = values.map { Self.alphabet[Int($0)].asciiValue! }
    return SecretBytes(moving: &bytes)
  }

  private static func isSeparator(_ character: Character) -> Bool {
    character.isWhitespace
      || character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .dashPunctuation }
  }

  private static func value(of character: Character) -> UInt8? {
    guard character.isASCII else { return nil }
    let letter: Character =
      switch character {
      case "i", "I", "l", "L": "1"
      case "o", "O": "0"
      case "u", "U": "V"
      default: Character(character.uppercased())
      }
    return alphabet.firstIndex(of: letter).map(UInt8.init)
  }
}

extension JoinCode: CustomStringConvertible, CustomReflectable {
  /// A string that does not show the code; `text` shows it.
  public var description: String { "join code" }
  /// An empty mirror, so that `dump` does not show the code.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reasons why a string is not a valid join code.
public enum JoinCodeError: Error, Hashable, Sendable {
  /// The string does not have exactly eight letters and digits: check for a missing or surplus
  /// character.
  case wrongLength
  /// The character cannot occur in a code: check what was typed.
  case invalid(Character)
}

extension JoinCodeError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .wrongLength: "a join code has 8 letters and digits, such as K7QM-2XRT: check the length"
    case .invalid(let character):
      "'\(character)' is in no join code, which has 8 letters and digits such as K7QM-2XRT"
    }
  }
}
