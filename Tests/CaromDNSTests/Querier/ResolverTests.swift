import CaromCore
import Testing

@testable import CaromDNS

/// What a resolve operation makes of the cached records (RFC 6763 §12, RFC 2782).
@Suite struct ResolverTests {
  private static let instance = SimulatedNetwork.makeInstance()
  private static let deadline = Instant.zero + .seconds(10)

  /// A link that uses both families.
  private func makeLink(_ index: UInt32) -> Link {
    Link(index: index, addresses: [], usesV4: true, usesV6: true)
  }

  private func makeCache(_ records: [Record], on interface: UInt32 = 2) -> RecordCache {
    var cache = RecordCache()
    for record in records { insert(record, in: &cache, on: interface) }
    return cache
  }

  private func insert(_ record: Record, in cache: inout RecordCache, on interface: UInt32) {
    _ = cache.insert(
      record, from: .v4(9), on: interface, at: .zero, jitter: 0, isWanted: { _ in true })
  }

  private func makeAddress(_ address: IPAddress) -> Record {
    Record("host9.local", .address(address), timeToLive: 120, flushesCache: true)
  }

  /// The endpoints of a resolver at a time, "not yet", or the failure.
  private func evaluate(
    _ resolver: inout Resolver, _ cache: RecordCache, links: [UInt32] = [2],
    at milliseconds: Int64 = 0
  ) -> String {
    var generator = SeededGenerator(seed: 1)
    let now = Instant.zero + .milliseconds(milliseconds)
    let outcome = resolver.evaluate(cache, on: links.map(makeLink), at: now, using: &generator)
    switch outcome {
    case nil: return "not yet"
    case .failed(let failure): return "\(failure)"
    case .resolved(let resolution):
      return resolution.endpoints.map { "\($0)" }.joined(separator: " ")
    }
  }

  private let global6 = IPAddress.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0)
  private let local6 = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 0)
  private let global4 = IPAddress.v4(0x0A00_0009)
  private let local4 = IPAddress.v4(0xA9FE_0109)

  @Test func `addresses: global IPv6, global IPv4, then link-local IPv4 and IPv6`() {
    let addresses = [local6, global4, local4, global6]
    for shift in 0..<4 {
      let order = (0..<4).map { addresses[($0 + shift) % 4] }
      let cache = makeCache(
        [SimulatedNetwork.makeServer(), SimulatedNetwork.makeText([:])] + order.map(makeAddress))
      var resolver = Resolver(instance: Self.instance, deadline: Self.deadline)
      let expected = [global6, global4, local4, local6.scoped(to: 2)]
        .map { "\(Endpoint($0, port: 7777))" }.joined(separator: " ")
      #expect(evaluate(&resolver, cache) == expected)
    }
  }

  @Test func `the other family is awaited for 50 ms, and a TXT record for 1.5 s`() {
    let base = [SimulatedNetwork.makeServer(), makeAddress(global4)]
    let text = SimulatedNetwork.makeText([:])
    let noV6 = SimulatedNetwork.makeDenial("host9.local", has: [.a])
    let rows: [([Record], Int64)] = [
      (base + [text], 50), (base + [noV6], 1_500), (base, 1_500), (base + [text, noV6], 0),
      (base + [text, makeAddress(global6)], 0),
      (base + [noV6, SimulatedNetwork.makeDenial(Self.instance, has: [.srv])], 0),
    ]
    for (records, wait) in rows {
      let cache = makeCache(records)
      var resolver = Resolver(instance: Self.instance, deadline: Self.deadline)
      if wait > 0 {
        #expect(evaluate(&resolver, cache, at: 100) == "not yet")
        #expect(resolver.addressKnownSince == .zero + .milliseconds(100))
        #expect(evaluate(&resolver, cache, at: 99 + wait) == "not yet")
      }
      #expect(evaluate(&resolver, cache, at: 100 + wait).contains("10.0.0.9:7777"))
    }
    var hurried = Resolver(instance: Self.instance, deadline: .zero + .milliseconds(20))
    #expect(evaluate(&hurried, makeCache(base), at: 19) == "not yet")
    #expect(evaluate(&hurried, makeCache(base), at: 20) == "10.0.0.9:7777")
  }

  @Test func `the addresses of the link with a TXT record come first, each of them once`() {
    var cache = makeCache([SimulatedNetwork.makeServer(), makeAddress(global4)], on: 2)
    for record in [
      SimulatedNetwork.makeServer(), SimulatedNetwork.makeText(["a": "b"]), makeAddress(local4),
      makeAddress(global4),
    ] { insert(record, in: &cache, on: 3) }
    var resolver = Resolver(instance: Self.instance, deadline: .zero)
    #expect(evaluate(&resolver, cache, links: [2, 3]) == "10.0.0.9:7777 169.254.1.9:7777")
    var generator = SeededGenerator(seed: 1)
    guard
      case .resolved(let resolution)? = resolver.evaluate(
        cache, on: [2, 3].map(makeLink), at: .zero, using: &generator)
    else {
      Issue.record("the service is resolved")
      return
    }
    #expect(resolution.interface == 3 && resolution.text == ["a": "b"])
    #expect(resolution.host == "host9.local")
  }

  @Test func `a service without SRV record, without addresses, or with the root as its host`() {
    let denial = SimulatedNetwork.makeDenial(Self.instance, has: [.txt])
    let noAddress = SimulatedNetwork.makeDenial("host9.local", has: [])
    let noV6 = SimulatedNetwork.makeDenial("host9.local", has: [.a])
    let rows: [([Record], before: String, after: String)] = [
      ([], "not yet", "\(ResolveFailure.noAnswer)"),
      ([denial], "\(ResolveFailure.notOffered)", ""),
      ([SimulatedNetwork.makeServer(host: .root)], "\(ResolveFailure.notOffered)", ""),
      (
        [SimulatedNetwork.makeServer()], "not yet",
        "\(ResolveFailure.noAddress(host: "host9.local"))"
      ),
      (
        [SimulatedNetwork.makeServer(), noV6], "not yet",
        "\(ResolveFailure.noAddress(host: "host9.local"))"
      ),
      (
        [SimulatedNetwork.makeServer(), noAddress],
        "\(ResolveFailure.noAddress(host: "host9.local"))", ""
      ),
    ]
    for (records, before, after) in rows {
      var resolver = Resolver(instance: Self.instance, deadline: Self.deadline)
      #expect(evaluate(&resolver, makeCache(records), at: 9_999) == before)
      if !after.isEmpty { #expect(evaluate(&resolver, makeCache(records), at: 10_000) == after) }
    }
  }

  @Test func `the hosts of the SRV records are asked for, eight at most, while they are offered`() {
    var resolver = Resolver(instance: Self.instance, deadline: Self.deadline)
    let own = [RecordType.srv, .txt].map { RecordKey(Self.instance, $0) }
    #expect(resolver.keys == own)
    let hosts = (0..<9).map { Name(stringLiteral: "h\($0).local") }
    let servers = hosts.map { SimulatedNetwork.makeServer(host: $0, flush: false) }
    #expect(evaluate(&resolver, makeCache(servers)) == "not yet")
    #expect(resolver.keys.count == 2 + 2 * 8)
    #expect(evaluate(&resolver, makeCache([servers[3]])) == "not yet")
    #expect(resolver.keys == own + [RecordType.a, .aaaa].map { RecordKey(hosts[3], $0) })
  }
}
