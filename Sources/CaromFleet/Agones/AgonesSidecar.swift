import CaromCore

/// Where the sidecar of Agones is: it listens on loopback, and only its port differs.
///
/// ```swift
/// let sidecar = try AgonesSidecar(environment: ProcessInfo.processInfo.environment)
/// ```
public struct AgonesSidecar: Hashable, Sendable {
  /// The environment variable in which Agones tells each game server the port.
  public static let portVariable = "AGONES_SDK_HTTP_PORT"

  /// The port at which the sidecar speaks HTTP.
  public let port: UInt16

  /// Creates the address of a sidecar.
  public init(port: UInt16) { self.port = port }

  /// Reads the port from the variables of a process. Returns nil if Agones does not run the
  /// process: the variable is not set, or empty.
  public init?(environment: [String: String]) throws(AgonesPortError) {
    guard let text = environment[Self.portVariable], !text.isEmpty else { return nil }
    let isDecimal = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard isDecimal, let port = UInt16(text), port > 0 else { throw .invalid(text) }
    self.port = port
  }

  /// The sidecar, as "localhost" is looked up.
  var endpoints: [Endpoint] {
    [Endpoint(.loopback4, port: port), Endpoint(.loopback6, port: port)]
  }
}

/// The reason why the port of the sidecar cannot be used.
public enum AgonesPortError: Error, Hashable, Sendable {
  /// The variable has this text, which is no port.
  case invalid(String)
}

extension AgonesPortError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .invalid(let text):
      """
      \(AgonesSidecar.portVariable) is "\(text)", which is no port: Agones sets it to a number \
      from 1 to 65535; unset it to run without Agones
      """
    }
  }
}
