import Foundation
import Testing

@testable import air_hockey

struct PlainFaceTests {
  @Test func `a log that nobody reads does not hold the game, and keeps whole lines`() throws {
    let pipe = Pipe()
    let face = PlainFace(output: pipe.fileHandleForWriting)
    let line = String(repeating: "x", count: 300)
    for _ in 0..<1_000 { face.tell(line) }
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect((1..<1_000).contains(lines.count))
    #expect(lines.allSatisfy { $0 == line })
  }
}
