/// A request to the sidecar of Agones, which runs beside a game server and speaks HTTP on loopback.
package enum AgonesRequest: Hashable, Sendable {
  /// Players can be sent to the server.
  case ready
  /// The server has players, so it must not be taken away.
  case allocate
  /// The server is healthy.
  case health
  /// The server is done, and can be taken away.
  case shutdown
  /// Asks for what Agones knows of the server.
  case status
  /// Replaces a list of values.
  case setList(name: String, capacity: Int, values: [String])
  /// Replaces a number.
  case setCounter(name: String, count: Int, capacity: Int)

  package var method: String {
    switch self {
    case .status: "GET"
    case .setList, .setCounter: "PATCH"
    case .ready, .allocate, .health, .shutdown: "POST"
    }
  }

  package var path: String {
    switch self {
    case .ready: "/ready"
    case .allocate: "/allocate"
    case .health: "/health"
    case .shutdown: "/shutdown"
    case .status: "/gameserver"
    case .setList(let name, _, _): "/v1beta1/lists/\(name)"
    case .setCounter(let name, _, _): "/v1beta1/counters/\(name)"
    }
  }

  /// The content as JSON. Numbers of 64 bits are strings there. Values of lists must need no
  /// escapes.
  package var body: String? {
    switch self {
    case .status: nil
    case .ready, .allocate, .health, .shutdown: "{}"
    case .setList(_, let capacity, let values):
      #"{"capacity":"\#(capacity)","values":["#
        + values.map { "\"\($0)\"" }.joined(separator: ",") + "]}"
    case .setCounter(_, let count, let capacity):
      #"{"count":"\#(count)","capacity":"\#(capacity)"}"#
    }
  }

  /// Returns the bytes of the request to the sidecar at `port` (RFC 9112). The sidecar closes the
  /// connection after its response.
  package func encoded(to port: UInt16) -> [UInt8] {
    var lines = [
      "\(method) \(path) HTTP/1.1", "Host: localhost:\(port)", "Accept: application/json",
      "Connection: close",
    ]
    if let body {
      lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
    }
    let head = lines.map { "\($0)\r\n" }.joined() + "\r\n"
    return Array((head + (body ?? "")).utf8)
  }
}

extension AgonesRequest: CustomStringConvertible {
  /// The request as a line for logs: "PATCH /v1beta1/lists/players".
  package var description: String { "\(method) \(path)" }
}

/// What Agones knows of a game server, as far as the server needs it.
package struct AgonesStatus: Hashable, Sendable {
  /// The state of the server, such as "Ready".
  package var state: String
  /// How often Agones wants to hear that the server is healthy; nil if it does not want to.
  package var healthPeriod: Duration?
  /// The address at which players reach the server, or a name of it; empty until Agones knows it.
  package var address: String
  /// The ports at that address, in the order of the manifest.
  package var ports: [Port]

  /// A port that players use.
  package struct Port: Hashable, Sendable {
    package let name: String
    package let number: UInt16

    package init(_ name: String, _ number: UInt16) { (self.name, self.number) = (name, number) }
  }

  package init(
    state: String, healthPeriod: Duration?, address: String = "", ports: [Port] = []
  ) {
    self.state = state
    self.healthPeriod = healthPeriod
    self.address = address
    self.ports = ports
  }
}
