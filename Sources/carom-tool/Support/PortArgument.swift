import ArgumentParser

/// Reads the ports of command lines.
enum PortArgument {
  /// Reads the port of a service that is published.
  static func published(_ text: String) throws(ValidationError) -> UInt16 {
    try port(text, from: 1)
  }

  /// Reads the port to listen on; 0 lets the system choose one.
  static func listening(_ text: String) throws(ValidationError) -> UInt16 {
    try port(text, from: 0)
  }

  private static func port(
    _ text: String, from lowest: UInt16
  ) throws(ValidationError) -> UInt16 {
    guard let port = UInt16(text), port >= lowest else {
      throw ValidationError("use a whole number from \(lowest) to 65535.")
    }
    return port
  }
}
