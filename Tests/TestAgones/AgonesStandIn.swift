import CaromCore
import CaromTransport

/// A stand-in for the sidecar of Agones on loopback, for one game server. It checks what the server
/// sends, and counts the server as unhealthy as Agones does.
package actor AgonesStandIn: LoopActor {
  /// What the stand-in does wrong.
  package enum Fault: Hashable, Sendable, CaseIterable {
    /// It answers every request with 500.
    case fails
    /// It closes the connection in the middle of the response.
    case closesEarly
    /// Its response has no end.
    case isEndless
    /// It never answers.
    case isSilent
    /// It answers a byte at a time, too slowly.
    case drips
    /// It is no HTTP server.
    case isOther
  }

  /// A request that has come.
  package struct Call: Hashable, Sendable {
    package let line: String
    package let body: String
    package let time: Instant
  }

  private struct Waiter {
    let isMet: (isolated AgonesStandIn) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  package nonisolated let loop: NetworkLoop
  package private(set) var calls: [Call] = []
  /// What the server has done that a sidecar does not allow.
  package private(set) var complaints: [String] = []
  package private(set) var server: AgonesObject
  package var fault: Fault?
  private var listener: TCPListener?
  private var connections: [Int: AgonesConnection] = [:]
  private var connectionCount = 0
  private var healthTimer: LoopTimer?
  private var waiters: [Waiter] = []

  package init(_ server: AgonesObject = AgonesObject(), on loop: NetworkLoop) {
    self.loop = loop
    self.server = server
  }

  /// Starts to listen; 0 lets the system choose the port.
  @discardableResult
  package func listen(port: UInt16 = 0) throws -> UInt16 {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: port)) {
      standIn, event in
      if case .accepted(let stream) = event { standIn.accept(stream) }
    }
    self.listener = listener
    healthTimer = LoopTimer(on: loop, owner: self) { standIn in standIn.missHealth() }
    healthTimer?.arm(after: .seconds(server.initialDelay) + server.patience)
    return listener.localEndpoint.port
  }

  /// Stops to listen, and breaks all connections. It can listen again after that.
  package func close() {
    listener?.close()
    listener = nil
    healthTimer = nil
    for connection in connections.values { connection.stream.reset() }
    connections = [:]
  }

  /// Changes what Agones knows of the server.
  package func change(_ body: @Sendable (inout AgonesObject) -> Void) { body(&server) }

  package func setFault(_ fault: Fault?) { self.fault = fault }

  // MARK: Waiting

  /// Waits until a request with this line has come so many times.
  @discardableResult
  package func call(_ line: String, _ number: Int = 1) async -> Call {
    await wait { $0.calls.filter { $0.line == line }.count >= number }
    return calls.filter { $0.line == line }[number - 1]
  }

  /// Waits until so many requests have come.
  package func waitForCalls(_ count: Int) async { await wait { $0.calls.count >= count } }

  /// Waits until the object that stands for the server is so.
  package func waitForServer(_ isMet: @escaping @Sendable (AgonesObject) -> Bool) async {
    await wait { isMet($0.server) }
  }

  private func wait(_ isMet: @escaping (isolated AgonesStandIn) -> Bool) async {
    guard !isMet(self) else { return }
    await withCheckedContinuation { waiters.append(Waiter(isMet: isMet, continuation: $0)) }
  }

  private func wakeWaiters() {
    let waiting = waiters
    waiters = []
    for waiter in waiting {
      if waiter.isMet(self) { waiter.continuation.resume() } else { waiters.append(waiter) }
    }
  }

  private func missHealth() {
    server.state = "Unhealthy"
    wakeWaiters()
  }

  // MARK: Connections

  private func accept(_ stream: TCPStream) {
    connectionCount += 1
    let number = connectionCount
    connections[number] = AgonesConnection(stream)
    stream.setHandler(owner: self) { standIn, event in
      switch event {
      case .bytes(let bytes): standIn.receive(bytes, on: number)
      case .writable: standIn.connections[number]?.pour()
      case .end: standIn.connections[number]?.stream.close()
      case .closed: standIn.connections[number] = nil
      }
    }
  }

  private func receive(_ bytes: Span<UInt8>, on number: Int) {
    guard let connection = connections[number] else { return }
    connection.request.append(copying: bytes)
    guard let (line, fields, body) = connection.takeRequest() else { return }
    check(fields, body)
    calls.append(Call(line: line, body: body, time: loop.now))
    if let fault {
      connection.misbehave(fault, on: loop)
    } else {
      do {
        connection.answer(try server.handle(line, body))
        if line == "POST /health" { healthTimer?.arm(after: server.patience) }
      } catch {
        if let text = error.complaint { complaints.append("\(line): \(text)") }
        connection.answer(error.json, status: error.status)
      }
    }
    wakeWaiters()
  }

  private func check(_ fields: [String: String], _ body: String) {
    if fields["host"]?.hasPrefix("localhost:") != true { complaints.append("no host") }
    if !body.isEmpty, fields["content-type"] != "application/json" {
      complaints.append("a body that is not declared as JSON")
    }
  }
}
