/// A string literal that is never copied, like `StaticString`, but `Hashable`.
public struct StaticText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let text: StaticString

  /// Creates the text from a string literal.
  public init(stringLiteral value: StaticString) { text = value }

  /// The literal's text.
  public var description: String { text.description }

  /// Returns whether two texts are equal.
  public static func == (a: StaticText, b: StaticText) -> Bool { a.description == b.description }

  /// Feeds the text into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
