/// The first line in which two traces differ.
public struct TraceDifference: Hashable, Sendable, CustomStringConvertible {
  /// Its number, from 1.
  public let line: Int
  /// Up to three lines before it, the same in both.
  public let before: [String]
  /// The line in this trace; `nil` where the trace has ended.
  public let here: String?
  /// The line in the other; `nil` where that has ended.
  public let there: String?

  init(line: Int, before: [String], here: String?, there: String?) {
    self.line = line
    self.before = before
    self.here = here
    self.there = there
  }

  /// The first difference of two texts, such as traces of earlier runs; `nil` where there is none.
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

  /// The lines before, and the two that differ, as `diff` shows them.
  public var description: String {
    let lines = before.map { "  \($0)" } + ["- \(here ?? "(end)")", "+ \(there ?? "(end)")"]
    return "line \(line):" + lines.reduce("") { $0 + "\n" + $1 }
  }
}
