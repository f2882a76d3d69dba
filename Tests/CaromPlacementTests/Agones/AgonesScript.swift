import CaromCore

@testable import CaromPlacement

/// The machine of a game server, and the other side as a test scripts it.
struct AgonesScript {
  /// A request, and when it was sent, in milliseconds.
  struct Sent: Hashable {
    let time: Int64
    let request: AgonesRequest

    init(_ time: Int64, _ request: AgonesRequest) {
      self.time = time
      self.request = request
    }
  }

  var now = Instant.zero
  var machine = AgonesGameServer(at: .zero)
  /// What the sidecar does with a request; nil if it leaves it for now.
  var sidecar: (AgonesRequest) -> AgonesGameServer.Outcome? = { _ in .done() }
  private(set) var events: [AgonesGameServer.Event] = []
  private(set) var waiting: AgonesRequest?
  private var sent: [Sent] = []
  private var generator = SeededGenerator(seed: 7)

  /// Calls the machine, answers its requests, and returns those that it has sent since the last
  /// call.
  @discardableResult
  mutating func change(_ body: (inout AgonesGameServer, Instant) -> Void = { _, _ in }) -> [Sent] {
    body(&machine, now)
    answer()
    defer { sent = [] }
    return sent
  }

  /// Reports the outcome of the request that waits.
  @discardableResult
  mutating func answer(_ outcome: AgonesGameServer.Outcome) -> [Sent] {
    waiting = nil
    machine.handle(outcome, at: now, using: &generator)
    return change()
  }

  /// Lets time pass, and returns what is sent in it.
  mutating func advance(_ milliseconds: Int) -> [Sent] {
    let end = now + .milliseconds(milliseconds)
    answer()
    while let timeout = machine.nextTimeout, timeout <= end {
      now = max(now, timeout)
      machine.handleTimeout(at: now)
      answer()
    }
    now = end
    defer { sent = [] }
    return sent
  }

  private mutating func answer() {
    while let request = machine.pollRequest() {
      precondition(waiting == nil, "one request at a time")
      sent.append(Sent((now - .zero).wholeNanoseconds / 1_000_000, request))
      if let outcome = sidecar(request) {
        machine.handle(outcome, at: now, using: &generator)
      } else {
        waiting = request
      }
    }
    while let event = machine.pollEvent() { events.append(event) }
  }
}
