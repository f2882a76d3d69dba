import CaromNearby
import CaromTransport

/// Shows the list of a `NearbyPicker` with a number for each peer, and turns the lines of standard
/// input into what the person does with it.
///
/// A number invites, an empty line begins with those who have joined, and "q" gives up.
final class PickerFace: Sendable {
  private struct State: Sendable {
    /// The list as it was shown last.
    var picker: NearbyPicker
    /// The numbers of all peers that have been shown. They do not change.
    var numbers: [PeerID: Int] = [:]
    /// Receives an element whenever the list changes.
    var listener: AsyncStream<Void>.Continuation?
  }

  private let output: Output
  private let input: InputLines
  private let state: Locked<State>

  init(_ picker: NearbyPicker, _ output: Output, _ input: InputLines) {
    self.output = output
    self.input = input
    state = Locked(State(picker: picker))
  }

  /// Lets the person pick. Returns the peers that have joined; nil if the person gives up.
  func run(in nearby: NearbySession) async -> [Peer]? {
    let (choices, source) = AsyncStream.makeStream(of: NearbyPicker.Choice.self)
    let picker = state.withLock { $0.picker }
    return await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        await self.readChoices(into: source)
        source.finish()
      }
      defer { tasks.cancelAll() }
      return await nearby.pick(picker, choices: choices) { self.show($0) }
    }
  }

  /// Reports what has changed in the list.
  private func show(_ picker: NearbyPicker) {
    state.withLock { state in
      let before = state.picker.rows
      state.picker = picker
      for row in before where !picker.rows.contains(where: { $0.peer.id == row.peer.id }) {
        report(row, "gone", state.numbers)
      }
      for row in picker.rows where !before.contains(row) {
        if state.numbers[row.peer.id] == nil {
          state.numbers[row.peer.id] = state.numbers.count + 1
        }
        report(row, Self.text(row.state), state.numbers)
      }
      state.listener?.yield()
    }
  }

  private static func text(_ state: NearbyPicker.State) -> String {
    switch state {
    case .visible: "visible"
    case .invited: "invited"
    case .joined: "joined"
    case .ended(.timedOut): "timed out"
    case .ended(.refused(let reason)): "refused: \(reason)"
    case .ended(let result): "\(result)"
    }
  }

  private func report(_ row: NearbyPicker.Row, _ state: String, _ numbers: [PeerID: Int]) {
    let (number, id) = (numbers[row.peer.id] ?? 0, row.peer.id.description)
    output.emit(
      Report(
        .listed, id, cells: ["\(number)", row.peer.name, state],
        [
          .init("number", .number(number)), .init("name", .string(row.peer.name)),
          .init("id", .string(id)), .init("state", .string(state)),
        ]))
  }

  /// Reads lines until the person gives up, the input ends, or the picking is over.
  private func readChoices(into choices: AsyncStream<NearbyPicker.Choice>.Continuation) async {
    while let line = await input.next() {
      switch line.filter({ !$0.isWhitespace }) {
      case "q": return
      case "":
        guard state.withLock({ $0.picker.canFinish }) else {
          CaromCommand.printError("nobody has joined yet")
          continue
        }
        await finish(choices)
      case let text:
        let peer = state.withLock { state in
          state.picker.rows.map(\.peer.id).first { "\(state.numbers[$0] ?? 0)" == text }
        }
        guard let peer else {
          CaromCommand.printError("there is no peer '\(text)' in the list")
          continue
        }
        guard state.withLock({ $0.picker.canInvite(peer) }) else {
          CaromCommand.printError("the peer \(text) cannot be invited now")
          continue
        }
        choices.yield(.invite(peer))
      }
    }
  }

  /// Ends the picking. Returns if the list changes instead: a peer may have left in the meantime.
  private func finish(_ choices: AsyncStream<NearbyPicker.Choice>.Continuation) async {
    let (changes, listener) = AsyncStream.makeStream(of: Void.self)
    state.withLock { $0.listener = listener }
    choices.yield(.finish)
    for await _ in changes { return }
  }
}
