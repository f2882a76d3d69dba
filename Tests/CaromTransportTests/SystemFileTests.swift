import Foundation
import Testing

@testable import CaromTransport

struct SystemFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "carom-\(UInt64.random(in: 0 ... .max))")

  @Test func `a file is read up to the limit, and a missing file is nil`() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "bytes").path
    let written = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
    try Data(written).write(to: URL(filePath: path))
    #expect(SystemFile.content(of: path, limit: 1 << 20) == written)
    #expect(SystemFile.content(of: path, limit: 20_000) == Array(written.prefix(20_000)))
    #expect(SystemFile.content(of: folder.appending(path: "none").path, limit: 1) == nil)
    // A folder can be opened but not read.
    #expect(SystemFile.content(of: folder.path, limit: 1) == nil)
  }

  @Test func `the names in a folder and the targets of links are found`() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (file, link) = (folder.appending(path: "a").path, folder.appending(path: "é").path)
    try Data().write(to: URL(filePath: file))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    #expect(Set(SystemFile.names(in: folder.path)) == ["a", "é"])
    #expect(SystemFile.names(in: file).isEmpty)
    #expect(SystemFile.target(ofLink: link) == file)
    #expect(SystemFile.target(ofLink: file) == nil)
  }

  @Test func `all bytes are written, and a full device is an error`() throws {
    let pipe = Pipe()
    let written = Array("carom\n".utf8)
    try SystemFile.append(written, to: pipe.fileHandleForWriting.fileDescriptor)
    #expect(SystemFile.bytes(from: pipe.fileHandleForReading.fileDescriptor) == written)
    try pipe.fileHandleForWriting.close()
    #expect(SystemFile.bytes(from: pipe.fileHandleForReading.fileDescriptor) == [])
    let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
    #expect(throws: TransportError.system(code: ENOSPC, operation: "write")) {
      try SystemFile.append(written, to: full.fileDescriptor)
    }
  }
}
