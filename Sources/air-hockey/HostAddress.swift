/// An address of the form HOST:PORT, where HOST is a name, an IPv4 address, or an IPv6 address in
/// brackets.
struct HostAddress: Equatable {
  let host: String
  let port: UInt16

  /// Creates an address from text. Returns nil if the text has another form, in which case it is
  /// the name of a table.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
      port > 0
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
    self.host = String(host)
    self.port = port
  }
}
