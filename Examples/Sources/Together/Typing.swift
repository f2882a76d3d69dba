import Carom

/// A text that several people type at the same time.
///
/// A change names the character that it follows, not a position: so it stays where it was meant to
/// be, whatever the others have typed meanwhile.
struct SharedText: ReplicatedState {
  /// The name of a character: its author, and the number of the character among those that the
  /// author has typed since entering the group. `visit` is a random number of this time, since an
  /// author who comes back begins to count again.
  struct Mark: Codable, Hashable, Sendable {
    let author: PeerID
    let visit: UInt32
    let number: Int
  }

  enum Event: Codable, Sendable {
    /// Inserts a character after another one, or at the beginning.
    case insert(String, Mark, after: Mark?)
    case delete(Mark)
  }

  private struct Character: Codable, Sendable {
    let mark: Mark
    let text: String
    /// Deleted characters stay, invisibly, because others may insert after them.
    var isDeleted = false
  }

  /// A character whose predecessor has not been inserted yet: when two groups merge, the events of
  /// one author can be applied before those of another on which they depend.
  private struct Orphan: Codable, Sendable {
    let character: Character
    let previous: Mark
  }

  /// The maximum number of characters that wait for others. The oldest ones are dropped.
  static let orphanLimit = 1000

  private var characters: [Character] = []
  private var orphans: [Orphan] = []

  /// The text as it is shown.
  var text: String { characters.filter { !$0.isDeleted }.map(\.text).joined() }

  mutating func apply(_ event: Event, _ entry: LedgerEntry) { apply(event, by: entry.submitter) }

  /// Applies what a peer has submitted.
  mutating func apply(_ event: Event, by submitter: PeerID) {
    switch event {
    case .insert(let text, let mark, let previous):
      // Nobody types in the name of another.
      guard mark.author == submitter, index(of: mark) == nil,
        !orphans.contains(where: { $0.character.mark == mark })
      else { return }
      insert(Character(mark: mark, text: text), after: previous)
    case .delete(let mark):
      if let index = index(of: mark) { characters[index].isDeleted = true }
    }
  }

  private mutating func insert(_ character: Character, after previous: Mark?) {
    var due: [(character: Character, previous: Mark?)] = [(character, previous)]
    while let (character, previous) = due.popLast() {
      if let previous {
        guard let index = index(of: previous) else {
          orphans.append(Orphan(character: character, previous: previous))
          if orphans.count > Self.orphanLimit { orphans.removeFirst() }
          continue
        }
        characters.insert(character, at: index + 1)
      } else {
        characters.insert(character, at: 0)
      }
      // Those that have waited for this one follow it.
      for orphan in orphans where orphan.previous == character.mark {
        due.append((orphan.character, orphan.previous))
      }
      orphans.removeAll { $0.previous == character.mark }
    }
  }

  private func index(of mark: Mark) -> Int? { characters.firstIndex { $0.mark == mark } }
}

/// Types a line at the beginning of the shared text, character by character, corrects one error,
/// and returns the text when it has `length` characters.
///
/// Before it returns, it calls `stay`, which should wait until all others have the text. Whoever
/// leaves earlier takes along what another author, whose connection is interrupted, has not
/// received yet.
func typeTogether(
  _ line: String, in nearby: NearbySession, until length: Int, stay: () async -> Void = {}
) async throws -> String {
  try await nearby.session.withGroup(SharedText()) { group in
    let visit = UInt32.random(in: .min ... .max)
    var last: SharedText.Mark?
    for (number, character) in ("#" + line).enumerated() {
      let mark = SharedText.Mark(author: nearby.local.id, visit: visit, number: number)
      try await group.submit(.insert(String(character), mark, after: last))
      last = mark
    }
    let wrong = SharedText.Mark(author: nearby.local.id, visit: visit, number: 0)
    try await group.submit(.delete(wrong))
    for await _ in group.changes {
      let text = await group.state.text
      guard text.count == length, !text.contains("#") else { continue }
      await stay()
      return text
    }
    throw CancellationError()
  }
}

/// A meeting of several tasks: each waits until all have arrived, or until it is cancelled.
actor Meeting {
  private var missing: Int
  private var waiting: [AsyncStream<Never>.Continuation] = []

  init(of count: Int) { missing = count }

  func arrive() async {
    missing -= 1
    guard missing > 0 else {
      for task in waiting { task.finish() }
      return
    }
    let (end, task) = AsyncStream.makeStream(of: Never.self)
    waiting.append(task)
    for await _ in end {}
  }
}
