import CaromCore
import Testing

@testable import CaromDNS

/// The records that a responder has on one link, and when they are sent (RFC 6762 §6, §8.3).
@Suite struct ResponderLinkTests {
  private static let name: Name = "host.local"
  private static let type: Name = "_x._tcp.local"

  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func makeAddress(_ value: UInt32) -> OwnedRecord {
    OwnedRecord(
      record: Record(
        Self.name, .address(.v4(value)), timeToLive: 120, flushesCache: true), role: .unique)
  }

  private func makePointer(_ label: String) throws -> OwnedRecord {
    OwnedRecord(
      record: Record(
        Self.type, .pointer(try Self.type.prefixed(by: label)), timeToLive: 4500), role: .shared)
  }

  private var denial: OwnedRecord {
    OwnedRecord(
      record: Record(
        Self.name, .types(next: Self.name, [.a]), timeToLive: 120, flushesCache: true),
      role: .denial)
  }

  private func makeLink(_ records: [OwnedRecord]) -> ResponderLink {
    let address = Link.Address(.v4(0x0A00_0001), prefixLength: 24)
    var link = ResponderLink(Link(index: 2, addresses: [address]))
    link.owned.insert(records, announcedAt: .zero)
    return link
  }

  /// The slots that are sent at each time, in milliseconds, at which something is due.
  private func run(_ link: inout ResponderLink) -> [[Int64]] {
    var sent: [[Int64]] = []
    while let due = link.nextTimeout {
      let slots = link.popDueRecords(at: due)
      if !slots.isEmpty { sent.append([due.nanoseconds / 1_000_000] + slots.map(Int64.init)) }
    }
    return sent
  }

  // MARK: Records

  @Test func `a record that several claims use is removed with the last of them`() throws {
    var owned = OwnedRecords()
    let shared = try makePointer("a")
    owned.insert([shared, makeAddress(1)], announcedAt: .zero)
    owned.insert([shared], announcedAt: .zero)
    #expect(owned.count == 2 && owned.slots(of: Self.type).count == 1)
    var removed = owned.remove([shared])
    #expect(removed == [] && owned.has(Self.type))
    removed = owned.remove([shared])
    #expect(removed == [shared] && !owned.has(Self.type))
    #expect(owned.slot(of: shared.record.identity) == nil)
    removed = owned.remove([shared])
    #expect(removed == [] && owned.count == 1)
    // The free slot is used again, without what was sent from it.
    owned.insert([makeAddress(2)], announcedAt: .zero)
    #expect(owned.slots(of: Self.name).count == 2 && owned.slots(of: Self.name).contains(0))
  }

  @Test func `R43: records are announced twice, and not within a second of being sent`() {
    var owned = OwnedRecords()
    let records = [makeAddress(1), makeAddress(2), denial]
    owned.insert(records, announcedAt: time(100))
    #expect(owned.nextAnnouncement(of: records) == time(100))
    // The first record was an answer just before; NSEC records are not announced.
    owned.markSent(0, at: time(50))
    var due = [99, 100].map { owned.popDueAnnouncements(of: records, at: time($0)) }
    #expect(due == [[], [records[1].record]])
    owned.markSent(1, at: time(100))
    #expect(owned.nextAnnouncement(of: records) == time(1_050))
    due = [1_049, 1_050].map { owned.popDueAnnouncements(of: records, at: time($0)) }
    #expect(due == [[], [records[0].record]])
    owned.markSent(0, at: time(1_050))
    #expect(owned.nextAnnouncement(of: records) == time(1_100))
    due = [owned.popDueAnnouncements(of: records, at: time(2_050))]
    #expect(due == [[records[0].record, records[1].record]])
    #expect(owned.nextAnnouncement(of: records) == nil)
  }

  // MARK: Answers

  @Test func `R15: a record is sent again after a second, or 250 ms to defend its name`() {
    for (due, isDefence, sent) in [
      (1_500, false, 2_010), (2_003, false, 2_010), (2_010, false, 2_010), (2_500, false, 2_500),
      (1_100, true, 1_260), (1_260, true, 1_260), (1_300, true, 1_300),
    ] as [(Int64, Bool, Int64)] {
      var link = makeLink([makeAddress(1)])
      link.owned.markSent(0, at: time(1_003))
      link.schedule([0], at: time(due), isDefence: isDefence)
      // Times that wait for a repetition are rounded up to 10 ms.
      let expected = due >= (isDefence ? 1_253 : 2_003) ? due : sent
      #expect(run(&link) == [[expected, 0]], "due at \(due)")
    }
  }

  @Test func `a record that is pending already is sent at the earlier time, once`() {
    for times in [[500, 300], [300, 500], [300, 300]] as [[Int64]] {
      var link = makeLink([makeAddress(1), makeAddress(2)])
      for due in times { link.schedule([0, 1], at: time(due), isDefence: false) }
      #expect(run(&link) == [[300, 0, 1]])
    }
    var link = makeLink([makeAddress(1), makeAddress(2)])
    link.schedule([0], at: time(300), isDefence: false)
    link.owned.markSent(0, at: time(200))
    #expect(run(&link) == [], "another host has answered")
  }

  @Test func `the records of a set wait until each of them may be sent again`() {
    var link = makeLink([makeAddress(1), makeAddress(2)])
    link.owned.markSent(0, at: time(1_000))
    link.owned.markSent(1, at: time(1_400))
    link.schedule([0, 1], at: time(1_500), isDefence: false)
    #expect(run(&link) == [[2_400, 0, 1]])
  }

  @Test func `R24: answers join others that are due within the range, and others join them`() {
    var link = makeLink((1...3).map(makeAddress))
    let range = time(1_020)...time(1_120)
    link.schedule([0], at: time(1_120), isDefence: false)
    var due = link.sendTime(in: range, or: time(1_050))
    #expect(due == time(1_120))
    link = makeLink((1...3).map(makeAddress))
    // Answers that are due before the range wait, up to half a second.
    link.schedule([0], at: time(1_019), isDefence: false)
    due = link.sendTime(in: range, or: time(1_050))
    #expect(due == time(1_050) && link.nextTimeout == due)
    let later = time(1_600)...time(1_700)
    due = link.sendTime(in: later, or: time(1_519))
    #expect(due == time(1_519) && link.nextTimeout == due)
    due = link.sendTime(in: later, or: time(1_520))
    #expect(due == time(1_520) && link.nextTimeout == time(1_519))
    // A defence does not wait.
    link = makeLink([makeAddress(1)])
    link.owned.markSent(0, at: time(900))
    link.schedule([0], at: time(1_000), isDefence: true)
    _ = link.sendTime(in: later, or: time(1_200))
    #expect(link.nextTimeout == time(1_150))
  }

  @Test func `R18: a record is fresh for a quarter of its life, and a set if all records are`() {
    var link = makeLink([makeAddress(1), makeAddress(2)])
    #expect(!link.isFresh([0], at: .zero))
    link.owned.markSent(0, at: .zero)
    #expect(link.isFresh([0], at: time(29_999)) && !link.isFresh([0], at: time(30_000)))
    #expect(!link.isFresh([0, 1], at: time(1)))
    link.owned.markSent(1, at: time(10_000))
    #expect(link.isFresh([0, 1], at: time(29_999)) && !link.isFresh([0, 1], at: time(30_000)))
  }

  @Test func `R29: a set is known if each record is, with half of its life`() {
    let records = [makeAddress(1), makeAddress(2)]
    let link = makeLink(records)
    let ids = records.map(\.record.identity)
    #expect(!link.isKnown([0], [:]))
    #expect(link.isKnown([0], [ids[0]: 60]) && !link.isKnown([0], [ids[0]: 59]))
    #expect(!link.isKnown([0, 1], [ids[0]: 120]))
    #expect(link.isKnown([0, 1], [ids[0]: 60, ids[1]: 60]))
    #expect(!link.isKnown([0, 1], [ids[0]: 60, ids[1]: 59]))
  }

  @Test func `R20 R22: a question gets each shared record, whole unique sets, or a denial`() throws
  {
    let records = [
      try makePointer("a"), try makePointer("b"), makeAddress(1), makeAddress(2), denial,
    ]
    let link = makeLink(records)
    let rows: [(Name, RecordType, UInt16, [[Int]], Bool)] = [
      (Self.type, .ptr, 1, [[0], [1]], true), (Self.type, .any, 255, [[0], [1]], true),
      (Self.type, .txt, 1, [], false), (Self.name, .a, 1, [[2, 3]], false),
      (Self.name, .any, 1, [[2, 3]], false), (Self.name, .aaaa, 1, [[4]], false),
      (Self.name, .aaaa, 255, [[4]], false), (Self.name, .aaaa, 3, [], false),
      (Self.name, .a, 3, [], false), ("other.local", .a, 1, [], false),
    ]
    for (name, type, questionClass, sets, isShared) in rows {
      let matches = link.answers(to: Question(name, type, questionClass: questionClass))
      #expect(matches.sets == sets && matches.isShared == isShared, "\(type) \(questionClass)")
    }
    #expect((0..<5).map { link.set(of: $0) } == [[0], [1], [2, 3], [2, 3], [4]])
  }

  @Test func `a quarter of the response packets is reserved for multicasts`() {
    var link = makeLink([])
    let all = link.budget.available(at: 0)
    #expect(all == 256)
    _ = link.budget.consume(191, at: 0)
    let isAllowed = link.canAnswerByUnicast(at: .zero)
    _ = link.budget.consume(1, at: 0)
    let isAllowedLater = [0, 7, 8].map { link.canAnswerByUnicast(at: time($0)) }
    #expect(isAllowed && isAllowedLater == [false, false, true])
  }

  @Test func `a link that restarts forgets pending answers, and keeps its records`() {
    var link = makeLink([makeAddress(1)])
    link.schedule([0], at: time(100), isDefence: false)
    link.restart(link.link)
    #expect(link.nextTimeout == nil && link.owned.count == 1)
  }
}
