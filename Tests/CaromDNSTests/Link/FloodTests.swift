import CaromCore
import CaromDNS
import Testing

/// A link full of junk: what is real is found all the same, and what is told is true.
@Suite struct FloodTests {
  #if DEBUG
    private static let junk = 4600
    /// Services that one sender invents; a quarter of the cache is the most that it may fill.
    private static let fakes = 300
  #else
    private static let junk = 20_000
    private static let fakes = 1200
  #endif

  enum Kind: String, CaseIterable, Sendable {
    case unwanted, ofTheType
  }

  /// Messages of 40 records each.
  private func flood(
    _ hub: inout Hub, _ kind: Kind, senders: Int, at count: Int = junk, clearing: Bool = true
  ) {
    for start in stride(from: 0, to: count, by: 40) {
      var message = Message(isResponse: true)
      message.answers = (start..<start + 40).map { index in
        switch kind {
        case .unwanted:
          Record(
            Name(junk: index), .address(.v4(UInt32(index))), timeToLive: 86_400, flushesCache: true)
        case .ofTheType: Hub.makePointer("fake \(index)", life: 86_400)
        }
      }
      hub.inject(message, from: UInt8(100 + start / 40 % senders))
      hub.run(for: .microseconds(1300))
      if clearing { hub.log = [] }
    }
  }

  /// What browsing told so far, taken together.
  private func standing(_ hub: Hub) -> Set<Name> {
    var names: Set<Name> = []
    for event in hub.told(0) {
      switch event {
      case .added(_, let service): #expect(names.insert(service.name).inserted)
      case .removed(_, let service): #expect(names.remove(service.name) != nil)
      default: break
      }
    }
    return names
  }

  @Test(arguments: Kind.allCases, [1, 100])
  func `a service that comes after a flood of junk is found within 1.3 s`(
    kind: Kind, senders: Int
  ) {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.browse(0)
    // One sender cannot fill the cache, only its share of it.
    flood(&hub, kind, senders: senders, at: senders > 1 ? Self.junk : Self.junk / 3)
    hub.publish(1)
    let end = hub.now.advanced(by: .milliseconds(1300))
    let found = hub.run(until: end) { hub in
      guard case .querier(.added(_, let service)) = hub.nodes[0].events.last?.event else {
        return false
      }
      return service.name == Hub.makeInstance()
    }
    #expect(found)
    _ = hub.resolve(0)
    hub.run(for: .milliseconds(300))
    #expect(hub.resolutions(0).compactMap { $0?.endpoints.count } == [1])
    // No ghosts: what was told to be there is what is remembered.
    let known = hub.nodes[0].machine.cachedRecords(Hub.type.name(), .ptr, at: hub.now)
    #expect(known.count == standing(hub).count)
    #expect(known.count <= RecordCache.pointerCapacity)
  }

  @Test func `a service that was there before stays while one sender floods its type`() {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(1)
    hub.browse(0)
    hub.run(for: .seconds(5))
    flood(&hub, .ofTheType, senders: 3, at: Self.junk / 2)
    #expect(!hub.changes(0).contains("-Maya's table"))
    #expect(hub.changes(0).contains("+Maya's table"))
  }

  @Test func `a flood of services makes no flood of questions`() {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    let start = hub.now
    flood(&hub, .ofTheType, senders: 100, at: Self.junk / 2, clearing: false)
    hub.run(for: .seconds(2))
    let seconds = Int((hub.now - start).components.seconds)
    // And one train of known answers that is not torn.
    #expect(hub.log.count <= 128 + 40 * (seconds + 1) + 70)
    #expect(hub.log.contains { $0.message.questions.count > 30 })
  }

  @Test func `denials are bounded with all other records`() {
    var hub = Hub()
    hub.addNode(1)
    for start in stride(from: 0, to: 3000, by: 30) {
      hub.say((start..<start + 30).map { Hub.makeDenial(Name(junk: $0), has: [.a]) })
    }
    var kept = 0
    for index in 0..<3000 {
      kept += hub.nodes[0].machine.cachedRecords(Name(junk: index), .nsec, at: hub.now).count
    }
    #expect(kept > 500 && kept <= RecordCache.capacity / RecordCache.sourceShare)
  }

  @Test func `with very many questions open, strings of what is found are not asked for`() {
    var hub = Hub()
    hub.addNode(1)
    hub.with(0) { machine, now in
      for index in 0..<Querier.monitorLimit {
        _ = machine.monitorText(of: Name(junk: index), at: now)
        _ = machine.resolve(Name(junk: index), deadline: now.advanced(by: .seconds(90)), at: now)
      }
    }
    hub.browse(0)
    hub.say([Hub.makePointer()])
    #expect(hub.changes(0) == ["+Maya's table"])
    hub.run(for: .seconds(10))
    let asked = hub.questions(0, .txt).map(\.question.key.name)
    #expect(!asked.isEmpty && !asked.contains(Hub.makeInstance()))
    #expect(hub.log.allSatisfy { $0.outgoing.payload.count <= 1452 })
  }

  @Test func `fakes that are not repeated are gone in a day, and their questions before`() {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    flood(&hub, .ofTheType, senders: 1, at: Self.fakes)
    #expect(standing(hub).count > Self.fakes * 2 / 5)
    hub.run(for: .seconds(86_401))
    #expect(standing(hub).isEmpty)
    #expect(hub.nodes[0].machine.cachedRecords(Hub.type.name(), .ptr, at: hub.now).isEmpty)
  }

  @Test func `the last of a thousand instances costs no more than the first`() {
    #if DEBUG
      let count = 200
    #else
      let count = 1000
    #endif
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    for index in 0..<count {
      let label = "table \(index)"
      hub.say(
        [Hub.makePointer(label)],
        additionals: [
          Hub.makeServer(label, port: UInt16(1000 + index)), Hub.makeText(["n": "1"], of: label),
          Hub.makeAddress(),
        ], from: UInt8(1 + index % 250))
    }
    #expect(hub.changes(0).count == count)
    hub.log = []
    for index in 0..<count { _ = hub.resolve(0, "table \(index)") }
    #expect(hub.resolutions(0).count == count)
    #expect(hub.resolutions(0).allSatisfy { $0 != nil })
    #expect(hub.log.isEmpty)
  }
}
