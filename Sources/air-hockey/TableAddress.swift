/// HOST:PORT as people write it: a name, an IPv4 address, or an IPv6 address in brackets.
struct TableAddress: Equatable {
  let host: String
  let port: UInt16

  /// `nil` where the text is not of that form: then it is a table's name.
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
