/// The first line in which two traces differ.
public struct TraceDifference: Hashable, Sendable, CustomStringConvertible {
  /// The number of the line, counted from 1.
  public let line: Int
  /// Up to three lines before the difference, which are the same in both traces.
  public let before: [String]
  /// The line in the first trace, or nil if the first trace ends before that line.
  public let here: String?
  /// The line in the second trace, or nil if the second trace ends before that line.
  public let there: String?

  init(line: Int, before: [String], here: String?, there: String?) {
    self.line = line
    self.before = before
    self.here = here
    self.there = there
  }

  /// Creates the difference at the first line in which two multiline strings, such as traces of
  /// earlier runs, differ. Returns nil if the strings are equal.
  public init?(of here: String, from there: String) {
    let ours = here.split(separator: "\n", omittingEmptySubsequences: false)
    let theirs = there.split(separator: "\n", omittingEmptySubsequences: false)
    let common = min(ours.count, theirs.count)
    let line = (0..<common).first { ours[$0] != theirs[$0] } ?? common
    if line == ours.count && line == theirs.count { return nil }
    self.init(
      line: line + 1, before: ours[max(0, line - 3)..<line].map(String.init),
      here: line < ours.count ? String(ours[line]) : nil,
      there: line < theirs.count ? String(theirs[line]) : nil)
  }

  /// The lines before the difference and the two differing lines, in the style of `diff`.
  public var description: String {
    let lines = before.map { "  \($0)" } + ["- \(here ?? "(end)")", "+ \(there ?? "(end)")"]
    return "line \(line):" + lines.reduce("") { $0 + "\n" + $1 }
  }
}
