import AirHockey
import CaromCore
import Foundation

/// A file that a match is recorded into as it is played.
struct RecordingFile: Sendable {
  private let path: String
  private let file: FileHandle
  private var recorder: MatchRecorder?
  private var isOpen = true
  private var trouble: String?

  /// Makes the file; one that is there is replaced.
  init(_ path: String) throws(CommandFailure) {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw CommandFailure(.badFile, "\(path) cannot be written") }
    self.path = path
    self.file = file
  }

  /// Adds what the host decided.
  mutating func record(_ match: HostedMatch) {
    guard isOpen else { return }
    if recorder == nil { recorder = MatchRecorder(match.state) }
    recorder?.record(match)
    write(recorder?.takeBytes())
  }

  /// Adds what a guest knows to be decided.
  mutating func record(_ match: JoinedMatch) {
    guard isOpen, let state = match.confirmed else { return }
    if recorder == nil { recorder = MatchRecorder(state, beginning: match.beginnings) }
    guard recorder?.record(match) == true else {
      trouble = "the recording ends here: the match began anew"
      return finish()
    }
    write(recorder?.takeBytes())
  }

  /// Adds a tick that was made here.
  mutating func record(home: RinkInput, away: RinkInput, leadingTo state: RinkState) {
    guard isOpen else { return }
    recorder?.append(home: home, away: away, leadingTo: state)
    write(recorder?.takeBytes())
  }

  /// Begins with a match that is made here.
  mutating func begin(_ state: RinkState) { recorder = MatchRecorder(state) }

  /// Writes the end.
  mutating func finish() {
    guard isOpen else { return }
    write(recorder?.finish())
    isOpen = false
    try? file.close()
  }

  /// What went wrong, to be told once.
  mutating func takeTrouble() -> String? {
    defer { trouble = nil }
    return trouble
  }

  private mutating func write(_ bytes: [UInt8]?) {
    guard let bytes, !bytes.isEmpty else { return }
    do {
      try file.write(contentsOf: Data(bytes))
    } catch {
      trouble = "\(path) cannot be written any more: the recording ends here"
      isOpen = false
    }
  }
}
