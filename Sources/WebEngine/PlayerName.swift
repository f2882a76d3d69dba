import CaromCore

extension String {
  /// Returns a player's name without the characters at its end for which the protocol has no room.
  ///
  /// This counts bytes: Swift's functions on characters would be an eighth of a page's program.
  package var asPlayerName: String {
    let bytes = utf8Bytes
    guard bytes.count > PeerID.maximumNameLength else { return self }
    var end = PeerID.maximumNameLength
    // The first byte that is left out begins a character.
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return String(utf8Bytes: Array(bytes[..<end])) ?? ""
  }
}
