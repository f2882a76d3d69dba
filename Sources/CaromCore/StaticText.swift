/// A name that stands in the program's text: `Hashable`, unlike `StaticString`, and never copied.
public struct StaticText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let text: StaticString

  /// Takes the literal as it is.
  public init(stringLiteral value: StaticString) { text = value }

  /// The text.
  public var description: String { text.description }

  /// Equal where the texts are.
  public static func == (a: StaticText, b: StaticText) -> Bool { a.description == b.description }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
