import CaromCore

extension KnownPeers {
  /// Reads a list from its stored text. Each line has the 64 hexadecimal digits of a key, a space
  /// and a name, and may end in CR LF; empty lines, and lines that begin with "#", are skipped.
  public init(decoding text: [UInt8]) throws(KnownPeersError) {
    guard text.count <= Self.maximumText else { throw .tooLong }
    var number = 0
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      guard let (name, key) = Self.entry(line), keys[name] == nil else {
        throw .malformed(line: number)
      }
      guard keys.count < Self.limit else { throw .tooLong }
      keys[name] = key
    }
  }

  private static func entry(_ line: ArraySlice<UInt8>) -> (name: String, key: PublicKey)? {
    let digits = line.prefix(2 * PublicKey.length)
    let rest = line.dropFirst(digits.count)
    guard rest.first == UInt8(ascii: " "),
      let bytes = Hexadecimal.bytes(of: digits, count: PublicKey.length),
      let key = PublicKey(bytes.span),
      let name = String(validating: rest.dropFirst(), as: UTF8.self), isValid(name)
    else { return nil }
    return (name, key)
  }

  /// The text to store, with one line for each name, in order.
  public var encoded: [UInt8] { names.flatMap { Array("\(keys[$0]!) \($0)\n".utf8) } }
}
