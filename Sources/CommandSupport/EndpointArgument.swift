import CaromCore

/// An argument of the form ADDRESS:PORT, or [ADDRESS]:PORT for IPv6, where others have a name.
package struct EndpointArgument: Equatable, Sendable {
  package let endpoint: Endpoint

  /// Reads an endpoint. Returns nil if `text` does not begin with an IP address, and is therefore a
  /// name. Throws if an address is not followed by a port from 1 to 65535.
  package init?(_ text: String) throws(CommandFailure) {
    guard let (address, rest) = Self.split(text) else { return nil }
    let place = address.isV6 ? "[\(address)]" : "\(address)"
    guard let rest, !rest.isEmpty else {
      throw CommandFailure(.usage, "the port of '\(text)' is missing: use \(place):PORT")
    }
    guard let port = UInt16(rest), port > 0 else {
      throw CommandFailure(
        .usage, "the port of '\(text)' must be from 1 to 65535: use \(place):PORT")
    }
    endpoint = Endpoint(address, port: port)
  }

  /// Returns the address at the beginning of `text`, and what follows its colon, or nil if there is
  /// none. Returns nil if there is no address.
  private static func split(_ text: String) -> (IPAddress, Substring?)? {
    if let address = IPAddress(text) { return (address, nil) }
    if text.hasPrefix("[") {
      let parts = text.dropFirst().split(
        separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
      guard let address = IPAddress(parts[0]) else { return nil }
      let rest = parts.count > 1 ? parts[1] : ""
      return (address, rest.hasPrefix(":") ? rest.dropFirst() : nil)
    }
    guard let colon = text.lastIndex(of: ":"), let address = IPAddress(text[..<colon]) else {
      return nil
    }
    let rest = text[text.index(after: colon)...]
    // Without brackets, the last part of an IPv6 address could be a port, or not.
    return (address, address.isV6 ? nil : rest)
  }
}
