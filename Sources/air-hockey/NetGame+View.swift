import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// What the players at this computer see.
extension NetGame {
  func present(at now: Instant) {
    var view = currentView(at: now)
    view.status = status(at: now)
    view.isStatusWhole = setup.showsNetwork
    if !setup.isPlayer { view.hint = "q quit" }
    display.present(view)
    if isPlaying { summary.frames += 1 }
  }

  /// The number of bytes that this side has sent and received.
  var bytes: (sent: UInt64, received: UInt64) {
    let earlier = player?.earlierBytes ?? (sent: 0, received: 0)
    let bytes = session?.node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) } ?? (0, 0)
    return (earlier.sent + bytes.0, earlier.received + bytes.1)
  }

  private func status(at now: Instant) -> String {
    if isInterrupted, let peer = opponent?.name {
      return "no connection to \(peer) · waiting for its return"
    }
    if setup.clients == 2, isPlaying { return "\(meters.rate.perSecond) Hz" }
    guard let opponent, let node = session?.node,
      let statistics = node.assumeIsolated({ $0.statistics(of: opponent.connectionID) })
    else { return [setup.name, setup.notice].compactMap(\.self).joined(separator: " · ") }
    measure(statistics, of: opponent, at: now)
    if setup.showsNetwork { return meters.network.line }
    let roundTrip = (statistics.roundTrip ?? .zero).inMilliseconds
    return "\(meters.rate.perSecond) Hz · \(summary.transport ?? "") · round trip "
      + "\((roundTrip * 10).rounded() / 10) ms" + (summary.fingerprint.map { " · \($0)" } ?? "")
  }

  private func measure(_ statistics: PeerStatistics, of opponent: Peer, at now: Instant) {
    var (gap, rollbacks) = (0, 0)
    var lastInputs: Instant?
    switch role {
    case .undecided: break
    case .host(let match): lastInputs = match.lastInputs(of: opponent)
    case .client(let match):
      lastInputs = match.lastInputs
      gap = match.client.predictedTicks
      rollbacks = match.client.rollback?.statistics.rollbacks ?? 0
    }
    if isPlaying {
      meters.network.recordFrame(statistics, gap: gap, lastInputs: lastInputs, at: now)
    }
    let isLineNew = meters.network.endSecond(statistics, bytes, rollbacks: rollbacks, at: now)
    if isLineNew, setup.showsNetwork { display.write(meters.network.line) }
  }

  private func currentView(at now: Instant) -> TableView {
    let side = setup.isPlayer ? seat : .home
    let names = (own: name(side), other: name(side.opponent))
    switch role {
    case .host(let match) where isPlaying:
      return TableView(match.server.state.state, seenFrom: side, names: names)
    case .client(let match) where isPlaying || !setup.isSpectator:
      guard let state = match.state?.state else { return waitingView }
      return TableView(view.shown(state, at: now), seenFrom: side, names: names)
    default: return waitingView
    }
  }

  private var waitingView: TableView {
    var view = TableView(RinkState(), seenFrom: .home, names: (setup.name, ""))
    view.puck = nil
    let place = code.map { "open \($0.text) in a browser" } ?? announcement
    var banner = TableView.Banner("Waiting", detail: setup.waiting)
    if let hall { banner = self.banner(of: hall) }
    // The end of a long line is cut off, and nobody can do without the whole address.
    var details = [banner.detail, hall == nil ? setup.notice : nil].compactMap(\.self)
    if let place { details.insert(place, at: code == nil ? details.count : 0) }
    banner.detail = details.joined(separator: " · ")
    view.banner = banner
    view.code = code
    return view
  }

  // MARK: Lines

  /// Displays an event of the match as a line of text.
  func show(_ event: RinkEvent, _ state: RinkState) {
    switch event {
    case .matchStarted: display.write("game \(state.match) begins")
    case .goal(let scorer): display.write("goal for \(name(scorer)): \(state.score)")
    case .paused(let owner): display.write("\(name(owner)) pauses the match")
    case .resumed(let owner): display.write("\(name(owner)) resumes")
    case .won(let winner): showWinner(winner, state.match, state.score)
    case .touch, .foul, .serve, .faceOff: break
    }
  }

  /// Displays the winner of a match and counts the match, unless this has already been done.
  func showWinner(_ winner: Seat, _ match: UInt16, _ score: Score) {
    guard lastWonMatch != match else { return }
    lastWonMatch = match
    summary.games += 1
    display.write("\(name(winner)) wins the game \(score)")
  }

  private func name(_ seat: Seat) -> String {
    if setup.isPlayer {
      return seat == self.seat ? setup.name : names[seat] ?? summary.peer ?? "the other player"
    }
    return names[seat] ?? "nobody"
  }

  /// The seat of the player at this computer.
  var seat: Seat {
    guard case .client(let match) = role else { return .home }
    return match.player == 0 ? .home : .away
  }
}
