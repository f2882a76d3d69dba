import CaromCore
import CaromDNS
import Testing

/// Which parts of a name server's response are trusted.
@Suite struct UnicastAnswerTests {
  typealias Harness = UnicastResolverHarness

  private func answer(
    to key: RecordKey, _ answers: [Record], additionals: [Record] = []
  ) throws -> UnicastResolverHarness {
    var harness = Harness()
    try harness.ask(key, of: [Harness.servers[0]])
    try harness.reply(try harness.answer(answers) { $0.additionals = additionals })
    return harness
  }

  private func makeAlias(_ name: Name, _ target: Name) -> Record {
    Record(name, .raw(.cname, target.wire + [0]), timeToLive: 60)
  }

  private func makeAddress(_ name: Name, _ last: UInt32) -> Record {
    Record(name, .address(.v4(0xC000_0200 | last)), timeToLive: 60)
  }

  private func makeChain(_ length: Int) throws -> [Record] {
    let names = try (0...length).map { try Name(text: "a\($0).example.com") }
    let aliases = (0..<length).map { makeAlias(names[$0], names[$0 + 1]) }
    return [makeAddress(names[length], 1)] + aliases.reversed()
  }

  @Test func `R86: up to eight aliases are followed, but not in a circle`() throws {
    let key = RecordKey("A0.example.com", .a)
    for length in [0, 1, 8] {
      let found = try answer(to: key, try makeChain(length)).onlyAnswer()
      #expect(found.records == [makeAddress(found.name, 1)])
      #expect(found.name.description.lowercased() == "a\(length).example.com")
    }
    #expect(try answer(to: key, try makeChain(9)).errors == [.serverFailure])
    let circle = [
      makeAlias("a0.example.com", "a1.example.com"), makeAlias("a1.example.com", "a0.example.com"),
    ]
    #expect(try answer(to: key, circle).errors == [.serverFailure])
    let alias = try answer(to: RecordKey("a0.example.com", .cname), circle).onlyAnswer()
    #expect(alias.records == [circle[0]])
  }

  @Test func `R86: records of other names, types and classes are left out`() throws {
    let key = RecordKey("host.example.com", .a)
    var foreign = makeAddress(key.name, 2)
    foreign.recordClass = 3
    var flushing = makeAddress(key.name, 3)
    flushing.flushesCache = true
    let others = [
      makeAddress("other.example.com", 4), foreign, flushing,
      Record(key.name, .text([0]), timeToLive: 60), makeAlias("other.example.com", key.name),
    ]
    let found = try answer(to: key, others + [makeAddress(key.name, 1)]).onlyAnswer()
    #expect(found.records == [makeAddress(key.name, 1)])
  }

  @Test func `R86: additional records count if the answer refers to them within the domain`() throws
  {
    let instance: Name = "Maya._game._tcp.example.com"
    let service = { (target: Name) in
      Record(
        instance, .service(priority: 0, weight: 0, port: 7, target: target), timeToLive: 60)
    }
    let pointer = Record(Harness.key.name, .pointer(instance), timeToLive: 60)
    let wanted = [
      service("host.example.com"), Record(instance, .text([0]), timeToLive: 60),
      makeAddress("host.example.com", 1),
    ]
    let unwanted = [
      makeAddress("www.example.com", 2), makeAddress("host.example.org", 3),
      Record("Leo._game._tcp.example.com", .text([0]), timeToLive: 60),
    ]
    let found = try answer(
      to: Harness.key, [pointer], additionals: unwanted + wanted + unwanted + wanted
    ).onlyAnswer()
    #expect(found.additionals == wanted)
    let elsewhere = try answer(
      to: RecordKey(instance, .srv), [service("host.example.org")],
      additionals: [makeAddress("host.example.org", 3)]
    ).onlyAnswer()
    #expect(elsewhere.records.count == 1 && elsewhere.additionals.isEmpty)
    let outside = try answer(
      to: RecordKey("a.example.com", .ptr),
      [Record("a.example.com", .pointer("b.example.com"), timeToLive: 60)],
      additionals: [makeAddress("b.example.com", 1)]
    ).onlyAnswer()
    #expect(outside.additionals.isEmpty)
  }
}
