import AirHockey
import AirHockeyTerminal
import Carom

// What both sides share.
extension NetGame {
  func step(at now: Instant) {
    switch role {
    case .host(let match): stepHosted(match, at: now)
    case .guest(let match): stepVisiting(match, at: now)
    case .none: break
    }
  }

  /// Takes a message of the peer; `false` for one that breaks the game's protocol.
  func receive(_ bytes: [UInt8], on channel: UInt8) -> Bool {
    switch role {
    case .host(let match): receiveHosting(bytes, on: channel, match)
    case .guest(let match): receiveVisiting(bytes, on: channel, match)
    case .none: false
    }
  }

  func carryOut(_ command: Controls.Command) {
    switch role {
    case .host(var match):
      guard let own = Self.command(command, of: .home, in: match.state) else { return }
      match.apply(own)
      role = .host(match)
    case .guest(let match):
      guard let state = match.view else { return }
      switch Self.command(command, of: .away, in: state) {
      case .pause: ask(.pause)
      case .resume: ask(.resume)
      case .startMatch: ask(.startMatch)
      case nil: break
      }
    case .none: break
    }
  }

  /// What a key means now: `p` holds and releases, space releases or asks for the next match.
  private static func command(
    _ command: Controls.Command, of seat: Seat, in state: RinkState
  ) -> RinkCommand? {
    let holds = state.pauses.contains(.of(seat))
    switch command {
    case .pause: return holds ? .resume(seat) : .pause(seat)
    case .proceed: return holds ? .resume(seat) : .startMatch(seat)
    case .quit: return nil
    }
  }

  func ask(_ request: GuestRequest) { send(request, on: .requests) }

  /// A message that finds the peer's queue full is not sent: its connection is about to end.
  func send<Message>(_ message: Message, on channel: Channel<Message>) {
    guard let link else { return }
    node.assumeIsolated { node in
      do throws(SendError) {
        try node.send(message, on: channel, to: link)
      } catch {
        node.close(link, Goodbye(.timedOut), as: .timedOut)
      }
    }
  }

  /// How old something of the peer's is, by the peer's clock.
  func recordAge(of clock: Instant, at now: Instant) {
    guard let link, let offset = node.assumeIsolated({ $0.roundTrip(to: link)?.clockOffset })
    else { return }
    stateAge.record(max(.zero, (now + offset) - clock))
  }

  func tell(_ event: TableEvent, as seat: Seat) {
    let name = { (other: Seat) in
      other == seat ? self.setup.name : self.summary.peer ?? "the other player"
    }
    switch event.kind {
    case .matchStarted: face.tell("match \(event.match) begins")
    case .goal(let scorer): face.tell("goal for \(name(scorer)): \(event.score)")
    case .paused(let owner): face.tell("\(name(owner)) holds the match")
    case .resumed(let owner): face.tell("\(name(owner)) goes on")
    case .matchEnded(let winner):
      summary.matches += 1
      face.tell("\(name(winner)) wins the match \(event.score)")
    case .sessionEnded: face.tell("final score \(event.score)")
    }
  }
}
