import Carom

/// A text that several people type at the same time.
///
/// A change names the character that it follows, not a position: so it stays where it was meant to
/// be, whatever the others have typed meanwhile.
struct SharedText: ReplicatedState {
  /// The name of a character: its author, and the number of the character among the author's.
  struct Mark: Codable, Hashable, Sendable {
    let author: PeerID
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

  private var characters: [Character] = []

  /// The text as it is shown.
  var text: String { characters.filter { !$0.isDeleted }.map(\.text).joined() }

  mutating func apply(_ event: Event, _ entry: LedgerEntry) {
    switch event {
    case .insert(let text, let mark, let previous):
      // Nobody types in the name of another.
      guard mark.author == entry.submitter, index(of: mark) == nil else { return }
      if let previous {
        guard let index = index(of: previous) else { return }
        characters.insert(Character(mark: mark, text: text), at: index + 1)
      } else {
        characters.insert(Character(mark: mark, text: text), at: 0)
      }
    case .delete(let mark):
      if let index = index(of: mark) { characters[index].isDeleted = true }
    }
  }

  private func index(of mark: Mark) -> Int? { characters.firstIndex { $0.mark == mark } }
}

/// Types a line at the beginning of the shared text, character by character, corrects one error,
/// and returns the text when it has `length` characters.
func typeTogether(
  _ line: String, in nearby: NearbySession, until length: Int
) async throws -> String {
  try await nearby.session.withGroup(SharedText()) { group in
    var last: SharedText.Mark?
    for (number, character) in ("#" + line).enumerated() {
      let mark = SharedText.Mark(author: nearby.local.id, number: number)
      try await group.submit(.insert(String(character), mark, after: last))
      last = mark
    }
    try await group.submit(.delete(SharedText.Mark(author: nearby.local.id, number: 0)))
    for await _ in group.changes {
      let text = await group.state.text
      if text.count == length, !text.contains("#") { return text }
    }
    throw CancellationError()
  }
}
