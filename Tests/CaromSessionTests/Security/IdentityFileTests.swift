import CaromCore
import CaromCrypto
import CaromTransport
import Foundation
import Testing

@testable import CaromSession

/// A folder of a test's own, which is removed with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "carom-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names of the files in the folder.
  var names: [String] { SystemFile.names(in: path).sorted() }

  func write(_ text: String, _ name: String, mode: Int = 0o600) throws -> String {
    let file = "\(path)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }
}

/// Where a peer's identity is kept: it is the same on each start, and nobody else can read it.
struct IdentityFileTests {
  private static let digits = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func mode(of path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  /// Returns the path of the file that an identity was loaded from or created in.
  private func path(_ loaded: LoadedIdentity, isNew: Bool) -> String? {
    switch loaded.origin {
    case .loaded(let path): isNew ? nil : path
    case .created(let path): isNew ? path : nil
    case .temporary: nil
    }
  }

  private func error(at path: String) -> IdentityFileError? {
    do throws(IdentityFileError) {
      _ = try IdentityFile.loadOrCreate(at: path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `an identity is created once, for its owner alone, and then loaded`() throws {
    let file = folder.path + "/key"
    let first = try IdentityFile.loadOrCreate(at: file)
    #expect(path(first, isNew: true) == file)
    #expect(try mode(of: file) == 0o600)
    #expect(folder.names == ["key"])  // nothing of the way there is left
    let second = try IdentityFile.loadOrCreate(at: file)
    #expect(path(second, isNew: false) == file)
    #expect(second.identity == first.identity && second.identity.id == first.identity.id)
    let other = try IdentityFile.loadOrCreate(at: folder.path + "/other")
    #expect(other.identity != first.identity)
  }

  @Test func `the file has the format that the page describes`() throws {
    let file = try folder.write("carom-identity-1 \(Self.digits)\n", "key")
    let loaded = try IdentityFile.loadOrCreate(at: file)
    #expect(loaded.identity.id.description == "3186d75602f3672f151e9e441004c79b")
    let created = folder.path + "/new"
    _ = try IdentityFile.loadOrCreate(at: created)
    let text = try String(contentsOf: URL(filePath: created), encoding: .utf8)
    #expect(text.utf8.count == 82 && text.wholeMatch(of: /carom-identity-1 [0-9a-f]{64}\n/) != nil)
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777])
  func `a file that others can use is refused`(mode: Int) throws {
    let file = try folder.write("carom-identity-1 \(Self.digits)\n", "key", mode: mode)
    guard case .readableByOthers(file)? = error(at: file) else {
      Issue.record("mode \(String(mode, radix: 8)) is accepted")
      return
    }
    #expect("\(IdentityFileError.readableByOthers(path: file))".contains("chmod 600"))
    #expect(try self.mode(of: file) == mode)  // and not repaired silently
  }

  @Test func `a file that its owner cannot write is good enough`() throws {
    let file = try folder.write("carom-identity-1 \(Self.digits)\n", "key", mode: 0o400)
    #expect(error(at: file) == nil)
  }

  @Test(arguments: [
    "", "x", "carom-identity-1 \(digits)", "carom-identity-1 \(digits)\n\n",
    "carom-identity-2 \(digits)\n", "carom-identity-1  \(digits)\n",
    "carom-identity-1 \(digits.dropLast())g\n", "carom-identity-1 \(digits.dropLast())\n\n",
    "carom-identity-1 \(digits)\r",
  ])
  func `a malformed file is refused and not replaced`(text: String) throws {
    let file = try folder.write(text, "key")
    guard case .malformed(file)? = error(at: file) else {
      Issue.record("\(text) is accepted")
      return
    }
    #expect(try String(contentsOf: URL(filePath: file), encoding: .utf8) == text)
  }

  @Test func `a folder or a device is not read`() {
    for path in [folder.path, "/dev/null", "/dev/zero"] {
      guard case .cannotRead(path, let reason)? = error(at: path) else {
        Issue.record("\(path) is accepted")
        continue
      }
      #expect("\(reason)" == "that is not a file")
    }
  }

  @Test func `a file in a folder that does not exist is an error with its path`() throws {
    let file = folder.path + "/missing/key"
    guard case .cannotWrite(file, _)? = error(at: file) else {
      Issue.record("the folder of a given path must exist")
      return
    }
    #expect("\(try #require(error(at: file)))".contains(file))
  }

  @Test func `processes that start at the same time get the same identity`() async throws {
    let file = folder.path + "/key"
    let identities = try await withThrowingTaskGroup(of: PeerID.self) { group in
      for _ in 0..<16 {
        group.addTask { try IdentityFile.loadOrCreate(at: file).identity.id }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(identities.count == 1 && folder.names == ["key"])
  }

  @Test func `each application has an identity of its own in the configuration folder`() throws {
    let config = folder.path + "/config"
    let first = try IdentityFile.loadOrCreate(for: "airhockey", in: config)
    #expect(path(first, isNew: true) == config + "/carom/airhockey/identity")
    let second = try IdentityFile.loadOrCreate(for: "chat", in: config)
    #expect(first.identity != second.identity)
    #expect(try IdentityFile.loadOrCreate(for: "airhockey", in: config).identity == first.identity)
    for part in ["", "/carom", "/carom/chat"] { #expect(try mode(of: config + part) == 0o700) }
  }

  @Test func `no application's name leads out of its folder or into another's`() {
    let names = ["a/b", "..", ".", "", "a b", "A", "é", "%", "a%2fb", "a.b", "~", "a\u{0}"]
    let paths = names.map { IdentityFile.path(for: $0, in: "/c") }
    #expect(Set(paths).count == names.count)
    for path in paths {
      #expect(path.split(separator: "/").count == 4 && !path.contains("/."), "\(path)")
    }
    #expect(paths[0] == "/c/carom/a%2fb/identity" && paths[9] == "/c/carom/a.b/identity")
    #expect(paths[1] == "/c/carom/%2e./identity" && paths[3] == "/c/carom/%/identity")
  }

  @Test func `the configuration folder is that of the account`() {
    func folder(_ variables: [String: String]) -> String? {
      IdentityFile.configurationFolder { variables[$0] }
    }
    #expect(folder(["HOME": "/h"]) == "/h/.config")
    #expect(folder(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == "/x")
    #expect(folder(["HOME": "/h", "XDG_CONFIG_HOME": "x"]) == "/h/.config")
    #expect(folder([:]) == nil && folder(["HOME": "h"]) == nil)
  }

  @Test func `where no file can be created, each start has a new identity and says so`() throws {
    let blocked = try folder.write("", "file")
    for place in [nil, blocked] as [String?] {
      let first = try IdentityFile.loadOrCreate(for: "chat", in: place)
      let second = try IdentityFile.loadOrCreate(for: "chat", in: place)
      #expect(first.identity != second.identity)
      guard case .temporary(let reason) = first.origin else {
        Issue.record("\(String(describing: place)) is taken for a folder")
        continue
      }
      #expect("\(reason)".contains("not recognize you the next time"))
    }
  }

  @Test func `a file of an application that cannot be used is an error, not a new identity`() throws
  {
    let loaded = try IdentityFile.loadOrCreate(for: "chat", in: folder.path)
    let file = try #require(path(loaded, isNew: true))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    #expect(throws: IdentityFileError.self) {
      try IdentityFile.loadOrCreate(for: "chat", in: folder.path)
    }
  }
}

/// Where the keys of known peers are kept.
struct KnownPeersFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeKey(_ byte: UInt8) -> PublicKey {
    PublicKey([UInt8](repeating: byte, count: 32).span)!
  }

  @Test func `a list is stored, read again and replaced`() throws {
    let file = KnownPeersFile(path: folder.path + "/new/known")
    var peers = try file.load()
    #expect(peers.count == 0)  // there is no file yet
    for byte in [UInt8(1), 2] {
      try peers.insert("Maya", makeKey(byte))
      try file.store(peers)
      #expect(try file.load() == peers)
    }
    #expect(SystemFile.names(in: folder.path + "/new") == ["known"])
  }

  @Test func `a list may be readable by others, and errors name the file`() throws {
    let path = try folder.write("\(makeKey(1)) Maya\n", "known", mode: 0o644)
    #expect(try KnownPeersFile(path: path).load().names == ["Maya"])
    let wrong = try folder.write("Maya\n", "wrong")
    do throws(KnownPeersFileError) {
      _ = try KnownPeersFile(path: wrong).load()
      Issue.record("a malformed list is accepted")
    } catch {
      #expect("\(error)".contains(wrong) && "\(error)".contains("line 1"))
    }
    do throws(KnownPeersFileError) {
      try KnownPeersFile(path: wrong + "/known").store(KnownPeers())
      Issue.record("a file is taken for a folder")
    } catch {
      #expect("\(error)".hasPrefix(wrong))
    }
    #expect(throws: KnownPeersFileError.self) { try KnownPeersFile(path: folder.path).load() }
    #expect(throws: KnownPeersFileError.self) {
      try KnownPeersFile(path: folder.path).store(KnownPeers())
    }
    #expect(folder.names == ["known", "wrong"])
  }
}

/// Files that are written at once or not at all.
struct PrivateFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file up to the limit is read, and one byte more is not`() throws {
    let path = try folder.write("12345", "file")
    #expect(try PrivateFile.content(of: path, limit: 5, isSecret: true) == Array("12345".utf8))
    #expect(throws: PrivateFile.Failure.tooLong) {
      try PrivateFile.content(of: path, limit: 4, isSecret: true)
    }
    // The system reports a size of 0 for this file, whose content is longer.
    #expect(throws: PrivateFile.Failure.tooLong) {
      try PrivateFile.content(of: "/proc/self/status", limit: 10, isSecret: false)
    }
    #expect(throws: PrivateFile.Failure.missing) {
      try PrivateFile.content(of: path + "x", limit: 5, isSecret: true)
    }
  }

  @Test func `a file that exists is not created, and stays as it is`() throws {
    let path = folder.path + "/file"
    try PrivateFile.create([1], at: path)
    #expect(throws: PrivateFile.Failure.exists) { try PrivateFile.create([2], at: path) }
    #expect(try PrivateFile.content(of: path, limit: 1, isSecret: true) == [1])
    try PrivateFile.replace(with: [3], at: path)
    #expect(try PrivateFile.content(of: path, limit: 1, isSecret: true) == [3])
    #expect(folder.names == ["file"])
  }

  @Test func `a link that leads nowhere is not followed when a file is created`() throws {
    let path = folder.path + "/link"
    let target = folder.path + "/target"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    #expect(throws: PrivateFile.Failure.exists) { try PrivateFile.create([1], at: path) }
    #expect(folder.names == ["link"])
  }
}
