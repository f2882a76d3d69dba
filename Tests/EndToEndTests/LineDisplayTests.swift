import Foundation
import Testing

@testable import air_hockey

struct LineDisplayTests {
  @Test func `a log without a reader does not block the game and contains only complete lines`()
    throws
  {
    let pipe = Pipe()
    let display = LineDisplay(output: pipe.fileHandleForWriting)
    let line = String(repeating: "x", count: 300)
    for _ in 0..<1_000 { display.write(line) }
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect((1..<1_000).contains(lines.count))
    #expect(lines.allSatisfy { $0 == line })
  }
}
