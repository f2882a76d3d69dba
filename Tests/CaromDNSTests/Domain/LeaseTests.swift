import CaromCore
import CaromDNS
import Testing

@Suite struct LeaseTests {
  typealias Harness = RegistrationHarness

  @Test func `R85: a service has a lease, which is renewed at half of its time`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    let instance = try Harness.instance("Ann")
    #expect(zone.lease(of: instance)?.expires == Harness.start + 600)
    for round: UInt64 in 1...5 {
      try harness.advance(&zone)
      #expect(harness.now == .zero + .seconds(300 * Int64(round)))
      #expect(zone.lease(of: instance)?.expires == Harness.start + 300 * round + 600)
      let isSent = harness.step(&zone)
      #expect(!isSent)
    }
    #expect(harness.events == [.published(name: "Ann")] && harness.updates.count == 6)
  }

  @Test func `R85: a lease is written by the server's clock`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.clockOffset = -250
    harness.settle(&zone)
    #expect(harness.updates.count == 2)
    #expect(zone.lease(of: try Harness.instance("Ann"))?.expires == Harness.start - 250 + 600)
  }

  @Test func `R85: a renewal that fails is tried again at growing intervals`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    var times: [Int64] = []
    for _ in 0..<8 {
      try harness.advance(&zone, .requestLost)
      times.append((harness.now - .zero).components.seconds)
    }
    #expect(times == [300, 301, 303, 307, 315, 331, 361, 391])
    try harness.advance(&zone)
    #expect(zone.lease(of: try Harness.instance("Ann"))?.expires == harness.time + 600)
    #expect(harness.events == [.published(name: "Ann")])
  }

  @Test func `R85: a service that was removed after a crash of the server is registered again`()
    throws
  {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    zone = ZoneModel()
    try harness.advance(&zone)
    harness.settle(&zone)
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Ann")])
    #expect(harness.events == [.published(name: "Ann")])
  }

  @Test func `R85: a service whose name another has taken meanwhile is renamed`() throws {
    var (harness, zone) = (try Harness(), ZoneModel())
    harness.settle(&zone)
    zone = ZoneModel()
    var other = try Harness(host: "ben-1")
    other.settle(&zone)
    try harness.advance(&zone)
    harness.settle(&zone)
    #expect(harness.events == [.published(name: "Ann"), .renamed(name: "Ann (2)")])
    harness.registration.withdraw()
    harness.settle(&zone)
    #expect(zone.pointers(Harness.type) == [try Harness.instance("Ann")])
  }

  @Test func `R85: only an expired lease is removed, and only if it was not renewed`() throws {
    var (harness, zone) = (try Harness(subtypes: ["_ranked"]), ZoneModel())
    harness.settle(&zone)
    let service = try DomainService(try Harness.instance("Ann"), in: Harness.domain)
    guard case .text(let bytes)? = zone.data(service.leaseName, .txt).first else {
      Issue.record("there is no lease")
      return
    }
    let lease = try #require(Lease(decoding: bytes))
    #expect(!lease.hasExpired(at: Harness.start + 600) && lease.hasExpired(at: Harness.start + 601))
    let removal = try #require(service.expiry(in: Harness.domain, bytes))
    try harness.advance(&zone)
    let error = zone.apply(removal)
    #expect(error == .prerequisiteFailed)
    #expect(zone.pointers(Harness.type).count == 1)

    guard case .text(let renewed)? = zone.data(service.leaseName, .txt).first else { return }
    let expiry = try #require(service.expiry(in: Harness.domain, renewed))
    let errors = [zone.apply(expiry), zone.apply(service.typeRemoval(in: Harness.domain))]
    #expect(errors == [nil, nil] && zone.records == [])
  }

  @Test func `leases are read as they are written, and other text is no lease`() throws {
    let lease = Lease(
      expires: 17, host: Array("ann-1".utf8), subtypes: [Array("_a=b".utf8), [0xFF]])
    #expect(Lease(decoding: lease.encoded) == lease)
    let others = [
      "", "expires=1", "host=a", "expires=x\0host=a", "expires=-1\0host=a",
      "expires=1\0host=a\0expires=2", "expires=1\0host=a\0host=b", "expires=1\0host=",
      "expires=1\0host=a\0x=y", "expires=1\0host=a\0sub=", "expires=18446744073709551616\0host=a",
      "expires=\0host=a",
    ]
    for text in others {
      let strings = text.split(separator: "\0").map { [UInt8($0.utf8.count)] + Array($0.utf8) }
      #expect(Lease(decoding: strings.flatMap { $0 }) == nil, "\(text)")
    }
    #expect(Lease(decoding: [9, 0x61]) == nil)
  }

  @Test func `R85: lost requests and answers leave one service or none`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var (harness, zone) = (try Harness(), ZoneModel())
      harness.settle(&zone)
      for round in 0..<20 {
        let fates: [Harness.Fate] = [.delivered, .requestLost, .responseLost]
        let fate = fates[Int.random(in: 0..<3, using: &generator)]
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: harness.registration.update(text: ["round": "\(round)"])
        case 1: try harness.registration.rename(to: "Ann \(round)")
        default: break
        }
        if !harness.step(&zone, fate) { try harness.advance(&zone, fate) }
        #expect(zone.pointers(Harness.type).count <= 1, "seed \(seed)")
        #expect(zone.data("ann-1.play.example", .a).count <= 1, "seed \(seed)")
      }
      harness.registration.withdraw()
      harness.settle(&zone)
      #expect(harness.registration.hasEnded)
      // A removal whose request was lost is left to the lease; everything else has been removed.
      #expect(
        zone.pointers(Harness.type).allSatisfy { zone.lease(of: $0) != nil }, "seed \(seed)")
    }
  }
}
