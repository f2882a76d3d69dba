import Foundation
import Testing

/// The pages' examples in Swift stand in files beside this one, where the compiler checks them. The
/// page Start is a whole program, which stands among the examples.
@Suite struct PageTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
  private static let pages = folder.appending(path: "../../../Sources/Carom/Carom.docc")

  @Test(arguments: [
    ("Start", "../../../Examples/Sources/Start/main.swift"),
    ("Sessions", "SessionsExamples.swift"), ("Worlds", "WorldsExamples.swift"),
    ("Servers", "ServersExamples.swift"), ("Moving", "MovingExamples.swift"),
    ("Fleets", "../../CaromFleetTests/FleetsExamples.swift"),
  ])
  func `every example on the page is compiled`(page: String, path: String) throws {
    let text = try String(contentsOf: Self.pages.appending(path: "\(page).md"), encoding: .utf8)
    let file = try String(contentsOf: Self.folder.appending(path: path), encoding: .utf8)
    let compiled = file.split(separator: "\n", omittingEmptySubsequences: false)
    let blocks = Self.blocks(of: text)
    #expect(!blocks.isEmpty)
    for block in blocks {
      #expect(Self.contains(compiled, block), "not compiled: \(block.joined(separator: "\n"))")
    }
  }

  /// The Swift examples of a page, in lines.
  private static func blocks(of page: String) -> [[Substring]] {
    var blocks: [[Substring]] = []
    var block: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "```swift" {
        block = []
      } else if line == "```", let whole = block {
        blocks.append(whole)
        block = nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }

  /// Returns whether the lines of `block` follow each other in `lines`, all of them indented by the
  /// same number of spaces.
  private static func contains(_ lines: [Substring], _ block: [Substring]) -> Bool {
    guard let first = block.first, block.count <= lines.count else { return false }
    return (0...lines.count - block.count).contains { start in
      guard lines[start].hasSuffix(first) else { return false }
      let indent = lines[start].dropLast(first.count)
      guard indent.allSatisfy({ $0 == " " }) else { return false }
      return zip(lines[start...], block).allSatisfy { line, wanted in
        line == (wanted.isEmpty ? "" : indent + wanted)
      }
    }
  }
}
