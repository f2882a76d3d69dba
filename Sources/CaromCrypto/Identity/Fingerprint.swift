import CaromCore

/// A public key as ten words, which two people can compare over the telephone: 80 bits of the peer
/// id that belongs to the key.
///
/// To make a key with a given fingerprint takes 2^80 attempts on average.
public struct Fingerprint: Hashable, Sendable {
  /// The number of words, each of which stands for eight bits.
  public static let wordCount = 10

  /// The bytes that the words stand for.
  private let bytes: [UInt8]

  /// Creates the fingerprint of a key.
  public init(_ key: PublicKey) {
    bytes = Array(PeerID.hash(of: key).prefix(Self.wordCount))
  }

  /// The words, such as "harbor", in lower case.
  public var words: [String] { bytes.map { String(Self.words[Int($0)]) } }
}

extension Fingerprint: CustomStringConvertible {
  /// The words on one line, separated by hyphens.
  public var description: String { words.joined(separator: "-") }
}
