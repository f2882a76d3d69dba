import ArgumentParser
import CommandSupport

/// An address of the form HOST:PORT, where HOST is a name, an IPv4 address, or an IPv6 address in
/// brackets.
struct HostAddress: Equatable {
  let host: String
  let port: UInt16

  /// Creates an address from text. Returns nil if the text does not have the form HOST:PORT and is
  /// therefore the name of a table. Throws if the port is a number outside 1 to 65535, or if an
  /// IP address has no port after it.
  init?(_ text: String) throws(CommandFailure) {
    if let endpoint = try EndpointArgument(text)?.endpoint {
      (host, port) = ("\(endpoint.address)", endpoint.port)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
    guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
    guard let port = UInt16(digits), port > 0 else {
      throw CommandFailure(.usage, "the port of '\(text)' must be from 1 to 65535")
    }
    self.host = String(host)
    self.port = port
  }
}

/// The ports that a host can listen on.
enum PortRange {
  /// Throws unless `port` is a port, or 0, which lets the system choose one.
  static func check(_ port: Int) throws(ValidationError) {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port must be a whole number from 0 to 65535.")
    }
  }
}
