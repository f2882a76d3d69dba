import Carom
import Testing

@testable import Together

/// The rules of the text that several people type.
@Suite struct SharedTextTests {
  private static let ada = PeerID(high: 0, low: 1)
  private static let leo = PeerID(high: 0, low: 2)

  private func mark(_ author: PeerID, _ number: Int, visit: UInt32 = 0) -> SharedText.Mark {
    SharedText.Mark(author: author, visit: visit, number: number)
  }

  /// Applies an insertion that its author has submitted.
  private func insert(
    _ character: String, _ mark: SharedText.Mark, after previous: SharedText.Mark?,
    into text: inout SharedText
  ) {
    text.apply(.insert(character, mark, after: previous), by: mark.author)
  }

  @Test func `a character follows the one that it names, and without one it is the first`() {
    var text = SharedText()
    insert("b", mark(Self.ada, 0), after: nil, into: &text)
    insert("d", mark(Self.ada, 1), after: mark(Self.ada, 0), into: &text)
    insert("c", mark(Self.leo, 0), after: mark(Self.ada, 0), into: &text)
    insert("a", mark(Self.leo, 1), after: nil, into: &text)
    #expect(text.text == "abcd")
  }

  @Test func `nobody types in the name of another, and nothing is inserted twice`() {
    var text = SharedText()
    text.apply(.insert("x", mark(Self.ada, 0), after: nil), by: Self.leo)
    #expect(text.text.isEmpty)
    insert("a", mark(Self.ada, 0), after: nil, into: &text)
    insert("b", mark(Self.ada, 0), after: nil, into: &text)
    #expect(text.text == "a")
    insert("c", mark(Self.ada, 0, visit: 1), after: mark(Self.ada, 0), into: &text)
    #expect(text.text == "ac")
  }

  @Test func `anyone deletes a character, and what follows it stays in its place`() {
    var text = SharedText()
    insert("a", mark(Self.ada, 0), after: nil, into: &text)
    insert("b", mark(Self.ada, 1), after: mark(Self.ada, 0), into: &text)
    text.apply(.delete(mark(Self.ada, 0)), by: Self.leo)
    text.apply(.delete(mark(Self.ada, 9)), by: Self.leo)
    #expect(text.text == "b")
    insert("c", mark(Self.leo, 0), after: mark(Self.ada, 0), into: &text)
    #expect(text.text == "cb")
    insert("a", mark(Self.ada, 0), after: nil, into: &text)
    #expect(text.text == "cb")
  }

  @Test func `characters wait for the one that they follow`() {
    var text = SharedText()
    insert("c", mark(Self.ada, 2), after: mark(Self.ada, 1), into: &text)
    insert("d", mark(Self.ada, 3), after: mark(Self.ada, 2), into: &text)
    insert("x", mark(Self.ada, 2), after: nil, into: &text)
    #expect(text.text.isEmpty)
    insert("b", mark(Self.ada, 1), after: mark(Self.ada, 0), into: &text)
    #expect(text.text.isEmpty)
    insert("a", mark(Self.ada, 0), after: nil, into: &text)
    #expect(text.text == "abcd")
  }

  @Test func `of the characters that wait, the oldest ones are dropped when they are too many`() {
    var text = SharedText()
    for number in 0...SharedText.orphanLimit {
      insert("x", mark(Self.leo, number), after: mark(Self.ada, number), into: &text)
    }
    for number in 0...1 { insert("a", mark(Self.ada, number), after: nil, into: &text) }
    #expect(text.text == "axa")
  }
}
