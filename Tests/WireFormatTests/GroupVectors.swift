import CaromCore
import CaromGroup

/// The messages in `Tests/Fixtures/wire/group.txt`, each with the line that `peer/groups.py` prints
/// of it.
enum GroupVectors {
  struct Vector {
    let name: String
    let message: ReplicaMessage
    let line: String

    init(_ name: String, _ message: ReplicaMessage, _ line: String) {
      self.name = name
      self.message = message
      self.line = line
    }

    init(_ name: String, _ message: LedgerMessage, _ line: String) {
      self.init(name, .ledger(message), line)
    }
  }

  private static let ada = PeerID(high: 0x0102_0304_0506_0708, low: 0x1112_1314_1516_1718)
  private static let leo = PeerID(high: 0x2122_2324_2526_2728, low: 0x3132_3334_3536_3738)
  private static let adaSource = EventSource(peer: ada, incarnation: 0x4142_4344_4546_4748)
  private static let leoSource = EventSource(peer: leo, incarnation: 7)
  private static let term: UInt64 = 0x5152_5354_5556_5758
  private static let membership: UInt32 = 0x6162_6364
  private static let position = LedgerPosition(index: 128, term: term)

  private static let a = "\(ada)"
  private static let l = "\(leo)"
  private static let sourceOfAda = "\(ada) 4142434445464748"
  private static let sourceOfLeo = "\(leo) 0000000000000007"
  private static let t = "5152535455565758"
  private static let m = "1633837924"

  private static let entries = [
    LedgerEntry(
      index: 127, source: leoSource, sequence: 1, voucher: leo, bytes: [0xCA, 0xFE], term: term),
    LedgerEntry(
      index: 128, source: adaSource, sequence: 200, voucher: leo, bytes: [], term: term),
  ]

  /// The rosters and ballots.
  static let elections = [
    Vector(
      "roster of two",
      .roster(
        Roster(
          version: 300, leader: ada,
          members: [
            RosterMember(id: ada, name: "Ada", incarnation: adaSource.incarnation),
            RosterMember(id: leo, name: "Leó", incarnation: leoSource.incarnation),
          ])),
      "300 \(a) 2 \(sourceOfAda) Ada \(sourceOfLeo) Leó"),
    Vector(
      "ballot of a leader with a quality",
      .ballot(
        Ballot(
          group: GroupID(named: "Votes"), leader: ada, followers: 5, reach: 200, length: 16_384,
          quality: HostQuality(roundTrip: 45, loss: 12, bandwidth: 1250))),
      "901daa925db016d2 \(a) 5 200 16384 1 45 12 1250"),
    Vector(
      "ballot of a follower",
      .ballot(Ballot(group: GroupID(named: ""), leader: leo, followers: 0, reach: 1, length: 0)),
      "cbf29ce484222325 \(l) 0 1 0 0"),
    Vector(
      "ballot of a side that takes no part",
      .ballot(
        Ballot(
          group: GroupID(named: "Votes"), leader: PeerID(high: 0, low: 0), followers: 0, reach: 3,
          length: 9)),
      "901daa925db016d2 00000000000000000000000000000000 0 3 9 0"),
  ]

  /// The messages of the ledger.
  static let ledger = [
    Vector(
      "join at the beginning",
      .join(
        JoinRequest(
          number: 1, incarnation: adaSource.incarnation, rosterVersion: 0, position: .zero)),
      "join 1 4142434445464748 0 0 0000000000000000"),
    Vector(
      "join after entries",
      .join(
        JoinRequest(
          number: 0x0A0B_0C0D, incarnation: adaSource.incarnation, rosterVersion: 300,
          position: position)),
      "join 168496141 4142434445464748 300 128 \(t)"),
    welcome("welcome after the position", 1, .afterPosition, 4, "\(m) 1 0 4"),
    welcome("welcome at the first entry", 2, .atBeginning, 0, "\(m) 2 1 0"),
    welcome("welcome after a snapshot", 3, .afterSnapshot, 300, "\(m) 3 2 300"),
    Vector("refuse", .refuse(leader: leo), "refuse \(l)"),
    Vector(
      "append of no entries", .append(membership: membership, first: 8, committed: 7, []),
      "append \(m) 8 7 0"),
    Vector(
      "append of two entries",
      .append(membership: membership, first: 127, committed: 120, entries),
      "append \(m) 127 120 2 \(sourceOfLeo) 1 cafe \(l) \(t) \(sourceOfAda) 200 - \(l) \(t)"),
    Vector(
      "acknowledge", .acknowledge(membership: membership, index: 128), "acknowledge \(m) 128"),
    Vector(
      "submit of complete events",
      .submit(
        membership: membership, isComplete: true,
        [SubmittedEvent(source: leoSource, sequence: 2, bytes: [1, 2, 3])]),
      "submit \(m) 1 1 \(sourceOfLeo) 2 010203"),
    Vector(
      "submit of events after a gap", .submit(membership: membership, isComplete: false, []),
      "submit \(m) 0 0"),
    Vector(
      "snapshot", .snapshot(membership: membership, position, length: 1 << 20),
      "snapshot \(m) 128 \(t) 1048576"),
    Vector("part", .part(membership: membership, [7, 8, 9]), "part \(m) 070809"),
    Vector("received", .received(membership: membership, length: 32_768), "received \(m) 32768"),
    Vector("leave", .leave(membership: membership), "leave \(m)"),
    Vector("remove", .remove(membership: membership), "remove \(m)"),
    Vector("withhold", .withhold(membership: membership), "withhold \(m)"),
  ]

  private static func welcome(
    _ name: String, _ request: UInt32, _ start: Welcome.Start, _ last: UInt64, _ line: String
  ) -> Vector {
    let welcome = Welcome(
      membership: membership, request: request, start: start, lastSequence: last)
    return Vector(name, .welcome(welcome), "welcome \(line)")
  }

  /// The tables at the beginning of snapshots.
  static let tables: [(name: String, table: SequenceTable, line: String)] = [
    (
      "table of two submitters",
      entries.reduce(into: SequenceTable()) { $0.add($1) },
      "2 \(sourceOfAda) 200 128 \(l) \(sourceOfLeo) 1 127 \(l)"
    ),
    ("table without submitters", SequenceTable(), "0"),
  ]
}
