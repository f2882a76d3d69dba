import CaromCore
import CaromDNS
import Testing

@Suite struct DomainRegistrationTests {
  typealias Harness = RegistrationHarness

  @Test func `R84: a service is registered with all of its records in one update`() throws {
    var (harness, zone) = (try Harness(subtypes: ["_ranked"]), ZoneModel())
    harness.settle(&zone)
    let instance = try Harness.instance("Ann")
    #expect(harness.events == [.published(name: "Ann")] && harness.updates.count == 1)
    #expect(zone.pointers(Harness.type) == [instance])
    #expect(zone.pointers("_ranked._sub._game._udp.play.example") == [instance])
    #expect(zone.pointers("_services._dns-sd._udp.play.example") == [Harness.type])
    #expect(
      zone.data(instance, .srv)
        == [.service(priority: 0, weight: 0, port: 7777, target: "ann-1.play.example")])
    let text: TXTRecord = ["seats": "1/2"]
    #expect(zone.data(instance, .txt) == [.text(text.encoded)])
    #expect(zone.data("ann-1.play.example", .a) == [.address(.v4(0xC000_0209))])
    #expect(zone.records.allSatisfy { $0.timeToLive == 60 })
  }

  @Test func `R84: a taken name is a conflict, and the service is renamed`() throws {
    var zone = ZoneModel()
    for (number, host) in ["ann-1", "ann-2", "ann-3"].enumerated() {
      var harness = try Harness(host: host)
      harness.settle(&zone)
      let name = number == 0 ? "Ann" : "Ann (\(number + 1))"
      #expect(harness.events == [.published(name: name)])
    }
    #expect(zone.pointers(Harness.type).map(\.firstLabel) == ["Ann", "Ann (2)", "Ann (3)"])
  }

  @Test func `R84: a taken name is an error for a service that must not be renamed`() throws {
    var zone = ZoneModel()
    var first = try Harness()
    first.settle(&zone)
    let before = zone.records
    var second = try Harness(host: "ann-2", renames: false)
    second.settle(&zone)
    #expect(second.events == [.failed(.nameInUse)] && second.registration.hasEnded)
    #expect(zone.records == before)
  }

  @Test func `no free name within a minute is an error`() throws {
    var zone = ZoneModel()
    for name in ["Ann"] + (2...90).map({ "Ann (\($0))" }) {
      var other = try Harness(name, host: "host")
      other.settle(&zone)
    }
    var harness = try Harness(host: "ann-2")
    while !harness.registration.hasEnded {
      let isSent = harness.step(&zone)
      #expect(isSent)
      harness.now = harness.now + .milliseconds(500)
    }
    #expect(harness.events == [.failed(.nameInUse)])
    #expect((60...61).contains((harness.now - .zero).components.seconds))
  }

  @Test func `R84: a claim whose answer was lost finds its own records and is no conflict`() throws
  {
    var (harness, zone) = (try Harness(), ZoneModel())
    // The client's own repetition of the request reaches a server that has made the update.
    let update = harness.registration.pollUpdate(at: .zero, time: harness.time)
    let claim = try #require(update)
    let errors = [zone.apply(claim), zone.apply(claim)]
    #expect(errors == [nil, .nameInUse])
    harness.registration.handleFailure(.nameInUse, at: .zero)
    harness.settle(&zone)
    #expect(harness.events == [.published(name: "Ann")])
    #expect(zone.pointers(Harness.type).map(\.firstLabel) == ["Ann"])
  }

  @Test func `R84: TXT records, subtypes and addresses are replaced`() throws {
    var (harness, zone) = (try Harness(subtypes: ["_ranked", "_open"]), ZoneModel())
    harness.settle(&zone)
    let text: TXTRecord = ["seats": "2/2"]
    harness.registration.update(text: text)
    harness.registration.update(subtypes: ["_open", "_late"])
    harness.registration.update(addresses: [.v4(1), .v4(2)])
    harness.settle(&zone)
    let instance = try Harness.instance("Ann")
    #expect(harness.updates.count == 2)
    #expect(zone.data(instance, .txt) == [.text(text.encoded)])
    #expect(zone.pointers("_ranked._sub._game._udp.play.example") == [])
    #expect(zone.pointers("_open._sub._game._udp.play.example") == [instance])
    #expect(zone.pointers("_late._sub._game._udp.play.example") == [instance])
    #expect(zone.data("ann-1.play.example", .a) == [.address(.v4(1)), .address(.v4(2))])
    #expect(zone.lease(of: instance)?.subtypes == ["_open", "_late"].map { Array($0.utf8) })
    harness.registration.update(text: text)
    let isSent = harness.step(&zone)
    #expect(!isSent, "nothing has changed")
  }

  @Test func `R84: a withdrawn service leaves nothing behind`() throws {
    var (harness, zone) = (try Harness(subtypes: ["_ranked"]), ZoneModel())
    harness.settle(&zone)
    harness.registration.withdraw()
    harness.settle(&zone)
    #expect(harness.events.last == .withdrawn && harness.registration.hasEnded)
    #expect(zone.records == [])
    #expect(harness.registration.nextTimeout == nil)
  }

  @Test func `a type stays in the list of types while another service has it`() throws {
    var zone = ZoneModel()
    var (first, second) = (try Harness(), try Harness("Ben", host: "ben-1"))
    first.settle(&zone)
    second.settle(&zone)
    first.registration.withdraw()
    first.settle(&zone)
    #expect(zone.pointers("_services._dns-sd._udp.play.example") == [Harness.type])
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Ben")])
  }

  @Test func `R84: a renamed service is removed under its old name`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    try harness.registration.rename(to: "Anna")
    harness.settle(&zone)
    #expect(harness.events == [.published(name: "Ann"), .renamed(name: "Anna")])
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Anna")])
    #expect(zone.data(try Harness.instance("Ann"), .srv) == [])
    #expect(zone.lease(of: try Harness.instance("Ann")) == nil)
  }

  @Test func `a renamed service keeps its old name until that is removed`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    try harness.registration.rename(to: "Anna")
    harness.step(&zone, .requestLost)
    harness.settle(&zone)
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Ann")])
    try harness.advance(&zone)
    harness.settle(&zone)
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Anna")])
    #expect(zone.data("ann-1.play.example", .a).count == 1)
  }

  @Test func `an error of the first claim ends the registration`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.step(&zone, .requestLost)
    #expect(harness.events == [.failed(.timedOut)])
    let isSent = harness.step(&zone)
    #expect(!isSent)
  }

  @Test func `names that are too long are refused`() {
    let label = String(repeating: "a", count: 63)
    #expect(throws: NameError.self) {
      try DomainRegistration(
        Registration(instance: label, type: "_game._udp", port: 1),
        in: Name(text: "\(label).\(label).\(label)"), zone: "example", hostLabel: "h",
        addresses: [], lease: .seconds(60))
    }
  }
}
