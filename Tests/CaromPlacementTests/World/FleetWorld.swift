import CaromCore

@testable import CaromPlacement

/// A fleet on virtual time: hosts, a directory in memory and the players of matches, between which
/// everything takes time, and sometimes too much. One seed makes one run.
final class FleetWorld {
  enum Occurrence {
    /// A command arrives at the directory.
    case command(DirectoryCommand, host: Int, connection: UInt64)
    /// An answer arrives at a host.
    case answer(DirectoryAnswer, host: Int, run: UInt64, connection: UInt64)
    /// A host's timer fires.
    case wake(host: Int)
    /// A host simulates its matches for half a second, and its players hear from it.
    case pulse(host: Int)
    case placeMatch(Int)
    case join(player: Int, MatchClaim)
    case playerTimer(Int)
    case doorQuestion(player: Int, door: Int)
    case doorAnswer(player: Int, HostFailover.DoorAnswer)
    case interference(FleetInterference)
    /// The processes of all hosts of a region die, and are started again at the end.
    case regionLoss(String)
  }

  struct Settings {
    var hosts = 8
    var seats = 24
    var matches = 30
    /// How long things happen to the fleet, and how long it has afterwards to recover.
    var duration = Duration.seconds(40)
    var recovery = Duration.seconds(25)
    /// The mean interval between two things that happen to the fleet.
    var interference = Duration.seconds(3)
    /// How long a match takes at least, and at most.
    var matchLength = Duration.seconds(8)...Duration.seconds(60)
    /// How often all of the directory is checked. After every command, that is done for what the
    /// command has changed and for what should have ended.
    var fullCheckInterval = Duration.zero
  }

  let settings: Settings
  let endOfInterference: Instant
  var generator: SeededGenerator
  private(set) var now = Instant.zero + .seconds(1_000_000)
  /// What will happen, by the numbers of places in `occurrences`: those are moved in the queue more
  /// often than anything else is done.
  private var queue = DeadlineQueue<Int>()
  private var occurrences: [Occurrence] = []
  private var freePlaces: [Int] = []
  var directory = MemoryDirectory()
  private var inspector: DirectoryInspector
  /// How long the directory takes for an answer.
  var directoryDelay = Duration.zero
  var hosts: [FleetWorldHost] = []
  var hostIndices: [PeerID: Int] = [:]
  /// Where each host can be asked for a match, by their indices.
  let doors: [RoutedEndpoint]
  var players: [FleetWorldPlayer] = []
  /// The indices of each match's players.
  var playersOfMatch: [MatchID: [Int]] = [:]
  /// The matches in which the directory has given a player a seat.
  var begun: Set<MatchID> = []
  /// How many players have found no host that goes on with their match, which had begun.
  var stranded = 0
  /// How many commands the directory has carried out.
  private(set) var commandCount = 0
  private(set) var history = FleetHistory()
  /// What was wrong, as sentences.
  private(set) var faults: [String] = []
  private var nextCheck = Instant.zero

  init(seed: UInt64, _ settings: Settings = Settings()) {
    self.settings = settings
    generator = SeededGenerator(seed: seed)
    endOfInterference = now + settings.duration
    inspector = DirectoryInspector(&directory)
    let records = (0..<settings.hosts).map {
      HostRecord.make($0, region: "r\($0 % 3)", seats: settings.seats)
    }
    doors = records.map { $0.doors[0] }
    for (index, record) in records.enumerated() {
      hosts.append(FleetWorldHost(record))
      hostIndices[record.id] = index
      start(index)
    }
    for match in 0..<settings.matches {
      schedule(.placeMatch(match), within: .seconds(1)...(settings.duration * 0.6))
    }
    scheduleInterference()
  }

  func schedule(_ occurrence: Occurrence, at time: Instant) {
    if let place = freePlaces.popLast() {
      occurrences[place] = occurrence
      queue.insert(place, at: time)
    } else {
      occurrences.append(occurrence)
      queue.insert(occurrences.count - 1, at: time)
    }
  }

  func schedule(_ occurrence: Occurrence, after delay: Duration) {
    schedule(occurrence, at: now + delay)
  }

  func schedule(_ occurrence: Occurrence, within range: ClosedRange<Duration>) {
    schedule(occurrence, after: generator.duration(in: range))
  }

  func report(_ fault: String) { faults.append("\(now.nanoseconds / 1_000_000) ms: \(fault)") }

  /// Runs until the fleet had its time to recover.
  func run() { run(until: endOfInterference + settings.recovery) }

  func run(until end: Instant) {
    while let time = queue.nextDeadline, time <= end, faults.count < 10 {
      now = max(now, time)
      while let place = queue.popFirst(until: now) {
        let occurrence = occurrences[place]
        // What the command carried is let go of.
        occurrences[place] = .interference(.heal)
        freePlaces.append(place)
        handle(occurrence)
      }
    }
  }

  private func handle(_ occurrence: Occurrence) {
    switch occurrence {
    case .command(let command, let host, let connection):
      deliver(command, from: host, on: connection)
    case .answer(let answer, let host, let run, let connection):
      guard hosts[host].run == run, !hosts[host].isCut else { return }
      touch(host) { $0.handle(answer, on: connection, at: now) }
    case .wake(let host): wake(host: host)
    case .pulse(let host): pulse(host)
    case .placeMatch(let match): placeMatch(match)
    case .join(let player, let claim): join(player, claim)
    case .playerTimer(let player): wake(player: player)
    case .doorQuestion(let player, let door): askDoor(door, for: player)
    case .doorAnswer(let player, let answer): tell(player, answer)
    case .interference(let interference): interfere(interference)
    case .regionLoss(let region):
      for host in hosts.indices where hosts[host].record.region == region { crash(host) }
    }
  }

  /// Lets the directory carry out a command, and checks what it has done.
  func carryOut(_ command: DirectoryCommand) -> DirectoryAnswer {
    commandCount += 1
    // Every command does this first. What it forgets does not count for the command any more.
    directory.sweep(at: now)
    inspect("before \(command)")
    let answer = directory.answer(command, at: now)
    for fault in history.faults(of: command, answer) { report(fault) }
    if case .host(.takeSeat(let claim, _), _) = command, answer == .done {
      begun.insert(claim.match)
    }
    inspect("after \(command)")
    if now >= nextCheck {
      nextCheck = now + settings.fullCheckInterval
      for fault in directory.faults(at: now) { report("after \(command), of all: \(fault)") }
    }
    return answer
  }

  private func inspect(_ when: @autoclosure () -> String) {
    for fault in inspector.faults(in: &directory, at: now) { report("\(when()): \(fault)") }
    for match in inspector.forgotten { history.forget(match) }
  }

  /// Makes the directory forget everything.
  func forgetEverything() {
    directory = MemoryDirectory()
    inspector = DirectoryInspector(&directory)
    history.forgetClaims()
  }

  /// Notes with which checkpoint a host begins a match. When the directory has forgotten
  /// everything, a host may begin with a claim that does not count any more, until it hears so.
  func noteStart(of claim: MatchClaim, _ checkpoint: Checkpoint?) {
    guard directory.placement(of: claim.match)?.claim == claim else { return }
    for fault in history.faults(ofStart: claim, checkpoint) { report(fault) }
  }
}

/// What the directory has promised so far.
struct FleetHistory {
  /// The greatest number of a claim that was given for each match.
  private var numbers: [MatchID: UInt64] = [:]
  private var ticks: [MatchID: UInt64] = [:]
  private var results: [MatchID: Result] = [:]

  /// A result that was recorded.
  private struct Result {
    let value: [UInt8]
    let claim: MatchClaim
    /// The process that has sent it.
    let run: UInt64
    /// Whether the directory has forgotten it since.
    var isForgotten = false
  }

  mutating func faults(of command: DirectoryCommand, _ answer: DirectoryAnswer) -> [String] {
    var faults: [String] = []
    if case .placed(let placement) = answer {
      let match = placement.claim.match
      if placement.claim.number < numbers[match, default: 0] {
        faults.append("\(match): the claim's number falls")
      }
      numbers[match] = placement.claim.number
    }
    guard case .host(let hostCommand, let sender) = command, let claim = hostCommand.claim,
      answer == .done
    else { return faults }
    if claim.number < numbers[claim.match, default: 0] {
      faults.append("an old claim counts: \(hostCommand)")
    }
    switch hostCommand {
    case .save(_, let checkpoint):
      if checkpoint.tick < ticks[claim.match, default: 0] {
        faults.append("\(claim.match): the checkpoint goes back")
      }
      ticks[claim.match] = checkpoint.tick
    case .finish(_, let result):
      let result = Result(value: result, claim: claim, run: sender.run)
      if let first = results.updateValue(result, forKey: claim.match), contradicts(result, first) {
        faults.append("\(claim.match): has two results")
      }
    default: break
    }
    return faults
  }

  /// Whether two different results of a match must not have been recorded. When the directory has
  /// forgotten the match, another process may go on with it, since nobody who knows better can
  /// tell; but not the one that has finished it.
  private func contradicts(_ result: Result, _ first: Result) -> Bool {
    guard result.value != first.value else { return false }
    return !first.isForgotten || result.claim == first.claim && result.run == first.run
  }

  func faults(ofStart claim: MatchClaim, _ checkpoint: Checkpoint?) -> [String] {
    guard checkpoint?.tick ?? 0 < ticks[claim.match, default: 0] else { return [] }
    return ["\(claim.match): begins before its last checkpoint"]
  }

  /// The directory has forgotten which claims there are and where the matches were.
  mutating func forgetClaims() {
    numbers = [:]
    ticks = [:]
    for match in results.keys { results[match]?.isForgotten = true }
  }

  /// The directory has forgotten a match: nobody has joined it, or it was over or an orphan for a
  /// minute. An older claim counts if its host brings the match back.
  mutating func forget(_ match: MatchID) {
    numbers[match] = nil
    ticks[match] = nil
    results[match]?.isForgotten = true
  }
}
