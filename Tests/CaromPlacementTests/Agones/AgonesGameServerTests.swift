import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct AgonesGameServerTests {
  typealias Sent = AgonesScript.Sent

  private static func list(_ values: String...) -> AgonesRequest {
    .setList(name: "players", capacity: 4, values: values)
  }

  private var script = AgonesScript()

  /// Lets the sidecar answer what it is asked for with this period of health.
  private mutating func setPeriod(_ period: Duration?, state: String = "Scheduled") {
    script.sidecar = { request in
      .done(request == .status ? AgonesStatus(state: state, healthPeriod: period) : nil)
    }
  }

  @Test mutating func `a server is ready, healthy twice a period, allocated and shut down`() {
    setPeriod(.seconds(5))
    #expect(script.change() == [Sent(0, .ready), Sent(0, .status)])
    #expect(
      script.advance(7_600) == [
        Sent(2_500, .health), Sent(5_000, .health), Sent(7_500, .health),
      ])
    #expect(script.change { $0.allocate(at: $1) } == [Sent(7_600, .allocate)])
    #expect(script.change { $0.allocate(at: $1) } == [])
    #expect(script.advance(2_400) == [Sent(10_000, .health)])
    #expect(script.change { $0.shutdown(at: $1) } == [Sent(10_000, .shutdown)])
    #expect(script.events == [.finished(isTold: true)])
    #expect(script.machine.nextTimeout == nil)
    #expect(script.change { $0.allocate(at: $1) } == [] && script.advance(60_000) == [])
  }

  @Test(
    arguments: [
      (nil, nil), (.milliseconds(10), 500), (.seconds(1), 500), (.seconds(7_200), 1_800_000),
    ] as [(Duration?, Int64?)])
  func `a period of health is within its limits, or there is none`(
    period: Duration?, first: Int64?
  ) {
    var test = self
    test.setPeriod(period)
    _ = test.script.change()
    #expect(test.script.advance(2_000_000).first?.time == first)
  }

  @Test mutating func `a sidecar that does not describe the server is asked twice a minute`() {
    script.sidecar = { $0 == .status ? .refused(status: 404) : .done() }
    #expect(script.change() == [Sent(0, .ready), Sent(0, .status)])
    let sent = script.advance(60_000)
    #expect(sent.filter { $0.request == .status }.map(\.time) == [30_000, 60_000])
    // Half of the period that Agones has by default.
    #expect(sent.filter { $0.request == .health }.map(\.time).prefix(2) == [1_500, 3_000])
    #expect(script.events == [])
  }

  @Test mutating func `a server says nothing while it is not healthy`() {
    setPeriod(.seconds(2))
    _ = script.change()
    #expect(script.change { $0.setHealthy(false, at: $1) } == [])
    #expect(script.advance(30_500) == [])
    #expect(script.change { $0.setHealthy(true, at: $1) } == [Sent(30_500, .health)])
    #expect(script.advance(1_000).map(\.request) == [.health])
  }

  @Test mutating func `whatever a sidecar misses is sent once it is there, and told once`() {
    script.sidecar = { _ in .unreachable }
    #expect(script.change() == [Sent(0, .ready)])
    script.change { $0.setCounter("rooms", 0, capacity: 1, at: $1) }
    let sent = script.advance(20_000)
    // At first a request a quarter of a second, later one a second, and at least half as many.
    #expect((20...40).contains(sent.count))
    for (one, next) in zip(sent, sent.dropFirst()) {
      #expect((125...1_000).contains(next.time - one.time))
    }
    #expect(script.events == [.away])
    setPeriod(.seconds(10))
    let rest = script.advance(1_000).map(\.request)
    #expect(
      rest == [.health, .ready, .status, .setCounter(name: "rooms", count: 0, capacity: 1)])
    #expect(script.events == [.away, .back])
  }

  @Test mutating func `a sidecar that comes back gets lists and counters again, but no phase`() {
    setPeriod(.seconds(4))
    script.change {
      $0.setList("players", ["a"], capacity: 4, at: $1)
      $0.allocate(at: $1)
    }
    script.sidecar = { _ in .unanswered }
    #expect(script.advance(2_000) == [Sent(2_000, .health)])
    script.sidecar = { _ in .done() }
    #expect(script.advance(1_000).map(\.request) == [.health, Self.list("a")])
    #expect(script.events == [.away, .back])
  }

  @Test mutating func `an error of the sidecar to what must not fail counts as absence`() {
    script.sidecar = { _ in .refused(status: 500) }
    _ = script.advance(10_000)
    #expect(script.events == [.away])
    script.sidecar = { _ in .done() }
    _ = script.advance(1_000)
    #expect(script.events == [.away, .back])
  }

  @Test(
    arguments: [("Ready", []), ("Allocated", []), ("Scheduled", [.ready])]
      as [(String, [AgonesRequest])])
  func `a server that may be ready already asks before it says so again`(
    state: String, following: [AgonesRequest]
  ) {
    var test = self
    test.script.sidecar = { _ in .unanswered }
    #expect(test.script.change() == [Sent(0, .ready)])
    test.setPeriod(.seconds(3_600), state: state)
    #expect(test.script.advance(1_000).map(\.request) == [.status] + following)
  }

  @Test mutating func `a server with a player is allocated without being ready before`() {
    script.sidecar = { _ in .unreachable }
    script.change { $0.allocate(at: $1) }
    setPeriod(.seconds(3_600))
    #expect(script.advance(1_000).map(\.request) == [.allocate, .status])
  }

  @Test mutating func `changes in a row are sent as one`() {
    setPeriod(.seconds(3_600))
    script.change()
    script.sidecar = { _ in nil }
    #expect(
      script.change { $0.setList("players", ["a"], capacity: 4, at: $1) }
        == [Sent(0, Self.list("a"))])
    for values in [["a", "b"], ["b"], ["b", "c"]] {
      #expect(script.change { $0.setList("players", values, capacity: 4, at: $1) } == [])
    }
    #expect(script.answer(.done()) == [Sent(0, Self.list("b", "c"))])
    #expect(script.answer(.done()) == [])
    // What was sent already is not sent again.
    #expect(script.change { $0.setList("players", ["b", "c"], capacity: 4, at: $1) } == [])
  }

  @Test mutating func `a list that the fleet does not have is tried twice a minute`() {
    setPeriod(nil)
    script.change()
    script.sidecar = { _ in .refused(status: 404) }
    #expect(script.change { $0.setList("players", ["a"], capacity: 4, at: $1) }.count == 1)
    #expect(script.change { $0.setList("players", ["b"], capacity: 4, at: $1) } == [])
    #expect(
      script.advance(60_000) == [Sent(30_000, Self.list("b")), Sent(60_000, Self.list("b"))])
    #expect(script.events == [.refused(Self.list("a"), status: 404)])
    // Nothing else waits for it.
    script.sidecar = { _ in .done() }
    #expect(script.change { $0.allocate(at: $1) }.map(\.request) == [.allocate])
    #expect(script.advance(30_000) == [Sent(90_000, Self.list("b"))])
    script.sidecar = { _ in .refused(status: 404) }
    script.change { $0.setList("players", [], capacity: 4, at: $1) }
    #expect(script.events.count == 2)
  }

  @Test mutating func `an end waits for the sidecar for three seconds`() {
    setPeriod(nil)
    script.change()
    script.sidecar = { _ in nil }
    #expect(script.change { $0.shutdown(at: $1) } == [Sent(0, .shutdown)])
    #expect(script.advance(2_999) == [] && script.events == [])
    #expect(script.advance(1) == [] && script.events == [.finished(isTold: false)])
    #expect(script.answer(.done()) == [] && script.events.count == 1)
  }

  @Test mutating func `an end that the sidecar did not take is sent again`() {
    setPeriod(nil)
    script.change()
    script.sidecar = { _ in .refused(status: 500) }
    script.change { $0.shutdown(at: $1) }
    script.sidecar = { _ in .done() }
    #expect(script.advance(250).map(\.request) == [.shutdown])
    #expect(script.events == [.away, .back, .finished(isTold: true)])
  }

  @Test func `requests have the paths and bodies of the interface`() {
    #expect(
      String(decoding: AgonesRequest.ready.encoded(to: 9_358), as: UTF8.self) == """
        POST /ready HTTP/1.1\r\nHost: localhost:9358\r\nAccept: application/json\r\n\
        Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}
        """)
    #expect(
      String(decoding: AgonesRequest.status.encoded(to: 80), as: UTF8.self) == """
        GET /gameserver HTTP/1.1\r\nHost: localhost:80\r\nAccept: application/json\r\n\
        Connection: close\r\n\r\n
        """)
    let list = Self.list("a", "b")
    #expect(list.description == "PATCH /v1beta1/lists/players")
    #expect(list.body == #"{"capacity":"4","values":["a","b"]}"#)
    let counter = AgonesRequest.setCounter(name: "rooms", count: 1, capacity: 2)
    #expect(counter.description == "PATCH /v1beta1/counters/rooms")
    #expect(counter.body == #"{"count":"1","capacity":"2"}"#)
    #expect(
      [AgonesRequest.allocate, .health, .shutdown].map(\.description)
        == ["POST /allocate", "POST /health", "POST /shutdown"])
  }
}
