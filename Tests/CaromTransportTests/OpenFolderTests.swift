import Foundation
import Testing

@testable import CaromTransport

/// Files that are opened by their names in a folder.
@Suite struct OpenFolderTests {
  /// A folder that is removed when it is released.
  private final class Temporary: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")

    init() throws {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private let temporary: Temporary
  private let folder: OpenFolder
  private var url: URL { temporary.url }

  init() throws {
    temporary = try Temporary()
    folder = try OpenFolder(temporary.url.path())
  }

  private func add(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: url.appending(path: name))
  }

  private func text(of name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  @Test func `bytes are written and read by offset`() throws {
    let file = try folder.file("a", isCreated: true)
    try file.write(Array("world".utf8), at: 6)
    try file.write(Array("hello ".utf8), at: 0)
    #expect(try file.size == 11)
    #expect(try file.read(100, at: 2) == Array("llo world".utf8))
    #expect(try file.read(3, at: 11).isEmpty)
    try file.truncate(to: 5)
    try file.synchronize()
    #expect(try text(of: "a") == "hello")
  }

  @Test func `a file that does not exist is not created unless that is asked for`() throws {
    #expect(throws: FileFailure.missing) { try folder.file("a", isCreated: false) }
    #expect(throws: FileFailure.missing) { try folder.fileForReading("a") }
    #expect(!folder.contains("a"))
  }

  @Test func `a private file can be accessed by its owner alone`() throws {
    _ = try folder.file("a", isCreated: true, isPrivate: true)
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path() + "/a")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func `symbolic links, folders and files with two names are not opened`() throws {
    try add("real", "x")
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: url.path() + "/link", withDestinationPath: url.path() + "/real")
    try files.createSymbolicLink(
      atPath: url.path() + "/dangling", withDestinationPath: url.path() + "/new")
    try files.createDirectory(
      at: url.appending(path: "folder"), withIntermediateDirectories: false)
    for name in ["link", "dangling", "folder"] {
      #expect(throws: FileFailure.notRegular, "\(name)") {
        try folder.file(name, isCreated: true)
      }
      #expect(throws: FileFailure.notRegular, "\(name)") { try folder.fileForReading(name) }
    }
    #expect(!folder.contains("new"))
    try files.linkItem(atPath: url.path() + "/real", toPath: url.path() + "/second")
    #expect(throws: FileFailure.notRegular) { try folder.file("real", isCreated: false) }
  }

  @Test func `a file is moved, and replaces another only if that is asked for`() throws {
    try add("a", "new")
    try add("b", "old")
    #expect(throws: FileFailure.exists) { try folder.move("a", to: "b") }
    #expect(try text(of: "b") == "old")
    try folder.move("a", replacing: "b")
    #expect(try text(of: "b") == "new")
    try folder.move("b", to: "c")
    #expect(Set(folder.names) == ["c"])
  }

  @Test func `the file that a link points to is not replaced`() throws {
    try add("a", "new")
    try add("victim", "old")
    try FileManager.default.createSymbolicLink(
      atPath: url.path() + "/link", withDestinationPath: url.path() + "/victim")
    #expect(throws: FileFailure.exists) { try folder.move("a", to: "link") }
    try folder.move("a", replacing: "link")
    #expect(try text(of: "victim") == "old")
    #expect(try text(of: "link") == "new")
  }

  @Test func `a locked file cannot be locked again until it is closed`() throws {
    var first: OpenFile? = try folder.file("a", isCreated: true)
    try first?.lock()
    let second = try folder.file("a", isCreated: false)
    #expect(throws: FileFailure.inUse) { try second.lock() }
    first = nil
    try second.lock()
  }

  @Test func `a file that was renamed no longer has its name`() throws {
    let file = try folder.file("a", isCreated: true)
    #expect(folder.has(file, named: "a"))
    try folder.move("a", to: "b")
    _ = try folder.file("a", isCreated: true)
    #expect(!folder.has(file, named: "a"))
    #expect(folder.has(file, named: "b"))
  }

  @Test func `a small file is replaced as a whole`() throws {
    try folder.replace("a", with: Array("first".utf8))
    try folder.replace("a", with: Array("2nd".utf8))
    #expect(folder.content(of: "a", limit: 3) == Array("2nd".utf8))
    #expect(folder.content(of: "a", limit: 2) == nil)
    #expect(folder.names == ["a"])
  }

  @Test func `a full disk and a missing folder have their own failures`() throws {
    #expect(throws: FileFailure.missing) { try OpenFolder("/nowhere/at/all") }
    #expect(throws: FileFailure.notRegular) { try OpenFile(reading: "/dev/null") }
    errno = ENOSPC
    #expect(FileFailure("write the file") == .full)
    errno = EDQUOT
    #expect(FileFailure("write the file") == .full)
    errno = EROFS
    #expect(FileFailure("write the file") == .denied)
    #expect(try #require(folder.freeBytes) > 0)
  }
}
