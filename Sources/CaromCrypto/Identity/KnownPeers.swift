import CaromCore

/// The public keys of the peers that somebody has met before, each under a name such as that of a
/// person or a server. It is stored as text; see `init(decoding:)`.
///
/// Whether to trust a name that is not known yet is the application's choice: `check` reports it,
/// and `insert` records it.
public struct KnownPeers: Hashable, Sendable {
  /// The maximum number of names.
  public static let limit = 4_096
  /// The maximum length of a name, in UTF-8 bytes.
  public static let maximumNameLength = 255
  /// The maximum length of the stored text, in bytes: all names at their longest.
  package static let maximumText = limit * (2 * PublicKey.length + 2 + maximumNameLength)

  /// What is known about a name.
  public enum Standing: Hashable, Sendable {
    /// The name has this key.
    case known
    /// Nobody is known by this name.
    case new
  }

  var keys: [String: PublicKey] = [:]

  /// Creates an empty list.
  public init() {}

  /// The names, in order.
  public var names: [String] { keys.keys.sorted() }

  /// The number of names.
  public var count: Int { keys.count }

  /// Returns the key of a name, or nil if nobody is known by it.
  public func key(of name: String) -> PublicKey? { keys[name] }

  /// Returns whether some name has this key.
  public func contains(_ key: PublicKey) -> Bool { keys.values.contains(key) }

  /// Checks the name and the key of a peer that has proven `key`. Returns `known` if the name is
  /// recorded with this key, or `new` if the name is not recorded. Throws `changedKey` if a
  /// different key is recorded for the name: somebody else may be pretending to be that peer.
  public func check(_ name: String, _ key: PublicKey) throws(KnownPeersError) -> Standing {
    guard let known = keys[name] else { return .new }
    guard known == key else {
      throw .changedKey(name: name, known: Fingerprint(known), offered: Fingerprint(key))
    }
    return .known
  }

  /// Records the key of a name. Replaces a key that is already recorded for the name, so call
  /// `check` first, and let a person agree to any change.
  public mutating func insert(_ name: String, _ key: PublicKey) throws(KnownPeersError) {
    guard Self.isValid(name) else { throw .invalidName }
    guard keys[name] != nil || keys.count < Self.limit else { throw .full }
    keys[name] = key
  }

  /// Forgets a name. Does nothing if nobody is known by it.
  public mutating func remove(_ name: String) { keys[name] = nil }

  /// Whether `name` can be stored on a line: 1 to 255 bytes without control characters, and without
  /// spaces at its ends.
  static func isValid(_ name: String) -> Bool {
    (1...maximumNameLength).contains(name.utf8.count)
      && !name.unicodeScalars.contains { scalar in
        [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      }
      && name.utf8.first != UInt8(ascii: " ") && name.utf8.last != UInt8(ascii: " ")
  }
}

/// The errors of a list of known peers.
public enum KnownPeersError: Error, Hashable, Sendable {
  /// A peer proved a different key from the one that is known for its name: ask the person at the
  /// other end to read out the words of its key, and remove the name only if they match.
  case changedKey(name: String, known: Fingerprint, offered: Fingerprint)
  /// A name is empty, has more than 255 bytes, has control characters, or has a space at an end.
  case invalidName
  /// 4,096 names are known: remove some.
  case full
  /// A line, counted from 1, is not a key and a name, or repeats a name: correct or remove it.
  case malformed(line: Int)
  /// The text is too long, or has more than 4,096 names.
  case tooLong
}

extension KnownPeersError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .changedKey(let name, let known, let offered):
      "\(name) has another key than before, and may be somebody else: known is \(known), offered "
        + "is \(offered); ask \(name) for the words, and remove the name if they are the new ones"
    case .invalidName:
      "a name must have 1 to 255 bytes, no control characters, and no space at its ends"
    case .full: "4096 peers are known: remove some"
    case .malformed(let line):
      "line \(line) is not a key of 64 digits, a space and a new name: correct or remove it"
    case .tooLong: "the list of known peers has more than 4096 names: remove some"
    }
  }
}
