/// Agrees with the connected players, who all look for the same kind of match, on who plays in it.
///
/// The player with the lowest key proposes a match, and the others agree if they have not agreed to
/// another one. The match begins once all have agreed. If the lowest one does not propose, the next
/// ones do, each a second later. Times are measured from the beginning of the search.
struct MatchNegotiation: Sendable {
  /// An action that the owner has to perform.
  enum Output: Hashable, Sendable {
    case send(MatchMessage, to: String)
    /// The match begins. All of the players, this one included, have the same list and name of it.
    case begin(players: [String], name: String)
  }

  private struct Proposal: Hashable, Sendable {
    let number: UInt32
    let players: [String]
    let deadline: Duration
    /// The others that have not agreed yet.
    var missing: Set<String>
  }

  private struct Promise: Hashable, Sendable {
    let proposer: String
    let number: UInt32
    let players: [String]
    /// The time at which the promise lapses, because its proposer has gone. Until then, another
    /// player may say that the match has begun.
    var lapsesAt: Duration?
  }

  private enum State: Hashable, Sendable {
    case gathering
    case proposing(Proposal)
    case promised(Promise)
    case begun
  }

  /// The time that a match which is not full waits for more players.
  static let gatheringTime = Duration.seconds(1)
  /// The time that each player with a lower key has to propose a match.
  static let turnTime = Duration.seconds(1)
  /// The time that a proposal waits for the answers.
  static let answerTime = Duration.seconds(3)
  /// The time that a promise is kept after its proposer has gone.
  static let lapseTime = Duration.seconds(1)

  let local: String
  /// The permitted numbers of players, this one included.
  let counts: ClosedRange<Int>
  /// The players with whom this one plays; nil for everyone.
  let recipients: Set<String>?
  /// The delay between a proposal that has failed and the next one. It differs from player to
  /// player, so that two do not propose at the same time again and again.
  let retryTime: Duration

  private(set) var connected: Set<String> = []
  private var state = State.gathering
  private var lastNumber: UInt32
  /// The time of the last change of `connected`.
  private var changedAt = Duration.zero
  private var retryAt = Duration.zero
  /// The players who have not agreed to this side's last proposal. The next one leaves them out if
  /// there are enough others.
  private var refusers: Set<String> = []
  private var outputs: [Output] = []

  /// Creates a side without connections. `lastNumber` is the number before that of its first
  /// proposal, so that matches which follow each other have different names.
  init(
    as local: String, players counts: ClosedRange<Int>, recipients: Set<String>? = nil,
    retryTime: Duration, lastNumber: UInt32 = 0
  ) {
    self.local = local
    self.counts = counts
    self.recipients = recipients
    self.retryTime = retryTime
    self.lastNumber = lastNumber
  }

  /// Removes and returns the actions, which have to be performed in this order.
  mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return outputs
  }

  /// The next time at which `handleTimeout` has something to do.
  var nextTimeout: Duration? {
    switch state {
    case .gathering: proposalTime
    case .proposing(let proposal): proposal.deadline
    case .promised(let promise): promise.lapsesAt
    case .begun: nil
    }
  }

  private func accepts(_ player: String) -> Bool {
    connected.contains(player) && recipients?.contains(player) != false
  }

  private var candidates: [String] { connected.filter(accepts).sorted() }

  /// The time at which this side proposes a match; nil if there are too few players.
  private var proposalTime: Duration? {
    let candidates = candidates
    guard candidates.count + 1 >= counts.lowerBound else { return nil }
    let isFull = candidates.count + 1 >= counts.upperBound
    let ready = isFull ? changedAt : changedAt + Self.gatheringTime
    return max(ready, retryAt) + Self.turnTime * candidates.count { $0 < local }
  }

  private mutating func send(_ message: MatchMessage, to players: some Sequence<String>) {
    for player in players where player != local { outputs.append(.send(message, to: player)) }
  }
}

// MARK: - Events
extension MatchNegotiation {
  /// A player is connected.
  mutating func connect(_ player: String, at now: Duration) {
    guard connected.insert(player).inserted else { return }
    changedAt = now
    handleTimeout(at: now)
  }

  /// A player is no longer connected.
  mutating func disconnect(_ player: String, at now: Duration) {
    guard connected.remove(player) != nil else { return }
    changedAt = now
    refusers.remove(player)
    switch state {
    case .proposing(let proposal) where proposal.players.contains(player):
      withdraw(proposal, for: [], at: now)
    case .promised(let promise) where promise.proposer == player:
      var promise = promise
      promise.lapsesAt = now + Self.lapseTime
      state = .promised(promise)
    default: break
    }
  }

  /// Proposes a match, or gives up a proposal or a promise, if it is time.
  mutating func handleTimeout(at now: Duration) {
    guard let due = nextTimeout, due <= now else { return }
    switch state {
    case .gathering: propose(at: now)
    case .proposing(let proposal): withdraw(proposal, for: proposal.missing, at: now)
    case .promised:
      state = .gathering
      retryAt = now
    case .begun: break
    }
  }

  private mutating func propose(at now: Duration) {
    let willing = candidates.filter { !refusers.contains($0) }
    let others = willing.count + 1 >= counts.lowerBound ? willing : candidates
    refusers = []
    let players = ([local] + others.prefix(counts.upperBound - 1)).sorted()
    lastNumber &+= 1
    let proposal = Proposal(
      number: lastNumber, players: players, deadline: now + Self.answerTime,
      missing: Set(players).subtracting([local]))
    state = .proposing(proposal)
    send(.propose(number: proposal.number, players: players), to: players)
  }

  private mutating func withdraw(
    _ proposal: Proposal, for refusers: Set<String>, at now: Duration
  ) {
    self.refusers = refusers
    state = .gathering
    retryAt = now + retryTime
    send(.withdraw(number: proposal.number), to: proposal.players.filter(connected.contains))
  }
}

// MARK: - Messages
extension MatchNegotiation {
  /// Handles the message of a connected player. Ignores those that make no sense now, which may be
  /// late.
  mutating func receive(_ message: MatchMessage, from player: String, at now: Duration) {
    switch message {
    case .propose(let number, let players):
      consider(Promise(proposer: player, number: number, players: players))
    case .agree(let number):
      guard case .proposing(var proposal) = state, proposal.number == number,
        proposal.missing.remove(player) != nil
      else { return }
      state = .proposing(proposal)
      if proposal.missing.isEmpty {
        begin(proposal.players, proposer: local, number: number)
      }
    case .refuse(let number):
      guard case .proposing(let proposal) = state, proposal.number == number,
        proposal.players.contains(player)
      else { return }
      withdraw(proposal, for: [player], at: now)
    case .withdraw(let number):
      guard case .promised(let promise) = state, promise.proposer == player,
        promise.number == number
      else { return }
      state = .gathering
      retryAt = now
    case .begin(let proposer, let number):
      guard case .promised(let promise) = state, promise.proposer == proposer,
        promise.number == number, promise.players.contains(player)
      else { return }
      // The proposer may have gone before it could tell everyone.
      begin(promise.players, proposer: proposer, number: number)
    case .data, .askForHost, .askForCost, .cost, .host: break
    }
  }

  private mutating func consider(_ promise: Promise) {
    let others = promise.players.filter { $0 != local }
    guard case .gathering = state, counts.contains(promise.players.count),
      Set(promise.players).count == promise.players.count,
      others.count == promise.players.count - 1, others.contains(promise.proposer),
      others.allSatisfy(accepts)
    else { return send(.refuse(number: promise.number), to: [promise.proposer]) }
    state = .promised(promise)
    send(.agree(number: promise.number), to: [promise.proposer])
  }

  private mutating func begin(_ players: [String], proposer: String, number: UInt32) {
    state = .begun
    send(.begin(proposer: proposer, number: number), to: players.filter(connected.contains))
    outputs.append(.begin(players: players, name: "\(proposer) \(number)"))
  }
}
