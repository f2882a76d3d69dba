import Foundation
import TestRelay
import Testing

/// Files that one process sends and another receives, on loopback.
@Suite(.turns) struct ToolTransferTests {
  private let source: TransferFolder
  private let target: TransferFolder
  private let name = "receiver \(UInt32.random(in: 0 ... .max))"

  init() throws {
    source = try TransferFolder()
    target = try TransferFolder()
  }

  private func receive(_ options: String...) throws -> RunningTool {
    try RunningTool(
      ["receive", "--into", target.path, "--name", name, "--interface", "lo", "--json"] + options)
  }

  private func send(_ arguments: String...) throws -> RunningTool {
    try RunningTool(
      ["send", "--interface", "lo", "--json", "--to", name, "--name", "Leo"] + arguments)
  }

  @Test func `two files are sent with one command and received with another`() async throws {
    let big = try source.add("big.bin", count: 3_000_000)
    let small = try source.add("small.txt", count: 3)
    let receiver = try receive("--yes", "--count", "2")
    #expect(try await receiver.line("published").name == name)
    let sender = try send(big, small)
    #expect(try await sender.line("sent", with: "big.bin").peer == name)
    #expect(try await sender.line("sent", with: "small.txt").stored == 3)
    #expect(await sender.process.status == 0)
    #expect(try await receiver.line("received", with: "big.bin").name == "big.bin")
    #expect(try await receiver.line("progress", with: "big.bin").peer == "Leo")
    #expect(await receiver.process.status == 0)
    let begun = await sender.process.output.all().filter {
      $0.contains("\"progress\"") && $0.contains("big.bin") && $0.contains("\"stored\":0")
    }
    #expect(begun.count <= 1, "\(begun)")
    #expect(try target.names == ["big.bin", "small.txt"])
    #expect(try target.content(of: "big.bin") == source.content(of: "big.bin"))
  }

  @Test func `a receiver that is killed and started again continues the file`() async throws {
    let big = try source.add("big.bin", count: 64_000_000)
    let killed = try receive("--yes")
    try await killed.line("published")
    let sender = try send(big)
    // Progress is reported five times a second, and the whole file could be stored before that.
    while try !target.hasIncompleteBytes { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await killed.end(SIGKILL) != 0)
    let names = try target.names
    let part = try #require(names.first { $0.hasSuffix(".part") })
    #expect(names.allSatisfy { $0.hasPrefix(".carom-") })
    let kept = try target.content(of: part).count
    let second = try receive("--yes", "--count", "1")
    #expect(try await second.line("received").name == "big.bin")
    #expect(await second.process.status == 0)
    #expect(try await firstStored(second) >= kept)
    #expect(await sender.process.status == 0)
    #expect(try target.names == ["big.bin"])
    #expect(try target.content(of: "big.bin") == source.content(of: "big.bin"))
  }

  @Test func `a sender that is killed and started again continues the file`() async throws {
    let big = try source.add("big.bin", count: 64_000_000)
    let receiver = try receive("--yes", "--count", "1")
    let port = UInt16(try #require(try await receiver.line("published").port))
    let kept = try await BreakingRelay.run(
      to: port, after: 16_000_000, servesAfterwards: false
    ) { relay, port in
      let killed = try RunningTool(["send", "--interface", "lo", "--to", "127.0.0.1:\(port)", big])
      await relay.waitForLastBreak()
      #expect(await killed.end(SIGKILL) != 0)
      let part = try #require(try target.names.first { $0.hasSuffix(".part") })
      return try target.content(of: part).count
    }
    // The connection of the first sender could still be resumed.
    let second = try send(big)
    #expect(await second.process.status == 0)
    #expect(try await firstStored(second) >= kept)
    #expect(await receiver.process.status == 0)
    #expect(try target.names == ["big.bin"])
    #expect(try target.content(of: "big.bin") == source.content(of: "big.bin"))
  }

  /// The progress that a process reported first, except 0.
  private func firstStored(_ tool: RunningTool) async throws -> Int {
    let progress = try await tool.process.output.all().filter { $0.contains("\"progress\"") }
      .map { try JSONDecoder().decode(RunningTool.Line.self, from: Data($0.utf8)) }
    return try #require(progress.compactMap(\.stored).first { $0 > 0 })
  }

  @Test func `a transfer goes on each time its connection breaks, however often that is`()
    async throws
  {
    let big = try source.add("big.bin", count: 40_000_000)
    let receiver = try receive("--yes", "--count", "1")
    let port = UInt16(try #require(try await receiver.line("published").port))
    try await BreakingRelay.run(to: port, breaks: 8, after: 4_000_000) { relay, port in
      let sender = try RunningTool(
        ["send", "--interface", "lo", "--json", "--to", "127.0.0.1:\(port)", big])
      #expect(await sender.process.status == 0)
      #expect(await relay.breaks == 8)
    }
    #expect(await receiver.process.status == 0)
    #expect(try target.names == ["big.bin"])
    #expect(try target.content(of: "big.bin") == source.content(of: "big.bin"))
  }

  @Test func `a code keeps out those who do not know it`() async throws {
    let file = try source.add("a", count: 10)
    let receiver = try receive("--yes", "--code", "--count", "1")
    let code = try #require(try await receiver.line("published").code)
    let without = try send(file)
    #expect(await without.process.status == 64)
    #expect(await without.process.errors.all().contains { $0.contains("--code") })
    let wrong = try send(file, "--code", code == "0000-0000" ? "1111-1111" : "0000-0000")
    #expect(await wrong.process.status == 69)
    let right = try send(file, "--code", code.lowercased())
    #expect(await right.process.status == 0)
    #expect(await receiver.process.status == 0)
  }

  @Test func `what cannot be sent or received is said in one line`() async throws {
    let file = try source.add("a", count: 10)
    let hidden = try source.add(".hidden", count: 10)
    let cases: [([String], Int32)] = [
      (["send", source.path + "/missing"], 74), (["send", source.path], 74),
      (["send", hidden], 65), (["send", file, "--to", name, "--timeout", "0.5"], 75),
      (["send", file, "--to", name, "--for", "0.5"], 75), (["send", file, "--for", "-1"], 64),
      (["send", file, "--to", "127.0.0.1:9", "--interface", "lo"], 68),
      (["send", file, "--code", "x"], 64), (["receive", "--into", source.path], 64),
      (["receive", "--yes", "--into", source.path + "/missing"], 74),
      (["receive", "--yes", "--name", String(repeating: "x", count: 64)], 65),
    ]
    for (arguments, status) in cases {
      let tool = try RunningTool(arguments)
      #expect(await tool.process.status == status, "\(arguments)")
      #expect(await tool.process.errors.all().count == 1, "\(arguments)")
    }
  }

  @Test(arguments: [
    ("127.0.0.1", "is missing: use 127.0.0.1:PORT"), ("::1", "is missing: use [::1]:PORT"),
    ("127.0.0.1:99999", "must be from 1 to 65535"), ("[::1]:0", "must be from 1 to 65535"),
  ])
  func `an address without a port is no name to look for`(receiver: String, advice: String)
    async throws
  {
    let file = try source.add("a", count: 10)
    let sender = try RunningTool(["send", file, "--to", receiver, "--interface", "lo"])
    #expect(await sender.process.status == 64)
    #expect(await sender.process.errors.all().first?.contains(advice) == true)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: script), "no script(1)"))
  func `a person is asked before a file is stored, and sees its bar`() async throws {
    let file = try source.add("ab", count: 1_000)
    let tool = try RunningTool.executable().path
    let terminal = try RunningProcess(
      URL(filePath: script),
      [
        "-qec",
        "exec '\(tool)' receive --into \(target.path) --name '\(name)' --interface lo --count 1",
        "/dev/null",
      ], environment: ["TERM": "xterm-256color"])
    #expect(await terminal.output.line { $0.contains("ready") } != nil)
    try terminal.write("n\ny\n")
    let refused = try send(file)
    #expect(try await refused.line("failed").reason == "the other side declined the file")
    #expect(await refused.process.status == 69)
    let accepted = try send(file)
    #expect(await accepted.process.status == 0)
    #expect(await terminal.status == 0)
    #expect(await terminal.output.all().contains { $0.contains("100 %") })
    #expect(try target.names == ["ab"])
  }
}

private let script = "/usr/bin/script"

/// A temporary folder, which is removed when it is released.
private final class TransferFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Creates a file of random bytes, and returns its path.
  func add(_ name: String, count: Int) throws -> String {
    let block = (0..<4_099).map { _ in UInt8.random(in: 0...255) }
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += block }
    let file = path + "/" + name
    try Data(bytes[..<count]).write(to: URL(filePath: file))
    return file
  }

  func content(of name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: path + "/" + name))
  }

  /// The names of all files, also hidden ones, in alphabetical order.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
  /// Whether the folder contains an incomplete file of which some bytes are stored.
  var hasIncompleteBytes: Bool {
    get throws {
      guard let part = try names.first(where: { $0.hasSuffix(".part") }) else { return false }
      let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + part)
      return (attributes?[.size] as? Int ?? 0) > 0
    }
  }
}
