import Foundation
import Synchronization

/// A process that a test observes while it runs. The process is killed after a time limit, so that
/// the test does not hang.
final class RunningProcess: Sendable {
  /// The default time limit of a process.
  static let limit = Duration.seconds(40)

  /// Unchecked: `Process` is configured before it is shared. Afterwards only `isRunning` is read.
  private struct Handle: @unchecked Sendable {
    let process = Process()
    /// Kept open, since some commands end when their input does.
    let input = Pipe()
    let output = Pipe()
    let errors = Pipe()

    /// Prevents other child processes from inheriting the pipes and keeping them open.
    init() {
      for pipe in [input, output, errors] {
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
          _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
      }
      process.standardInput = input
      process.standardOutput = output
      process.standardError = errors
    }

    /// Kills the process and its descendants. Once it has ended, its id may belong to another
    /// process.
    func kill() {
      guard process.isRunning else { return }
      let pid = process.processIdentifier
      RunningProcess.signal(SIGKILL, to: RunningProcess.descendants(of: pid) + [pid])
    }
  }

  /// Serializes starting processes: one that starts in between would inherit pipes whose flags are
  /// not set yet.
  static let spawning = Mutex(())

  let output = LineLog()
  let errors = LineLog()
  private let handle: Handle
  private let pid: Int32
  private let isWrapped: Bool

  /// Runs the command, then writes its exit status to both outputs. The end of a pipe would not
  /// indicate the end of the process, because another process may have inherited the pipe.
  private static let shell = """
    "$0" "$@"
    status=$?
    echo "\(LineLog.endMark)$status"
    echo "\(LineLog.endMark)$status" >&2
    """

  /// Starts a process. If `isWrapped` is true, the executable is a command that enters a lab and
  /// runs the actual program.
  init(
    _ executable: URL, _ arguments: [String], environment: [String: String] = [:],
    isWrapped: Bool = false, within limit: Duration = limit
  ) throws {
    self.isWrapped = isWrapped
    handle = try Self.spawning.withLock { _ in
      let handle = Handle()
      handle.process.executableURL = URL(filePath: "/bin/bash")
      handle.process.arguments = ["-c", Self.shell, executable.path] + arguments
      handle.process.environment = ProcessInfo.processInfo.environment
        .merging(environment) { $1 }
      try handle.process.run()
      return handle
    }
    Self.read(handle.output, into: output)
    Self.read(handle.errors, into: errors)
    let (handle, output, errors) = (handle, output, errors)
    pid = handle.process.processIdentifier
    let watchdog = Task {
      try await Task.sleep(for: limit)
      handle.kill()
      output.end()
      errors.end()
    }
    // A test may never ask for the status. The watchdog must not outlive the process even then: it
    // would kill another test's process that has got the same id in the meantime.
    Task {
      _ = await errors.status
      watchdog.cancel()
      try? handle.input.fileHandleForWriting.close()
    }
  }

  /// Reads a pipe to its end on a separate thread, and closes it. (A `readabilityHandler` loses
  /// events when a descriptor is reused that belonged to a pipe that was just closed.)
  ///
  /// Foundation keeps a `Process` and its pipes for as long as the thread lives that started it. It
  /// crashes if a pipe has a descriptor above 1,023.
  private static func read(_ pipe: Pipe, into log: LineLog) {
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread {
      while case let data = handle.availableData, !data.isEmpty { log.append(data) }
      try? handle.close()
    }
  }

  /// The exit status; 128 plus the signal's number if a signal ended the process; -1 if the process
  /// was killed at its time limit.
  var status: Int32 {
    get async {
      let status = await errors.status
      return status ?? -1
    }
  }

  /// The id of the actual program, without the shell and the command that enters a lab.
  var inner: Int32 {
    let child = Self.children(of: pid).first ?? pid
    return isWrapped ? Self.children(of: child).first ?? child : child
  }

  /// The running child processes of the program.
  var children: [Int32] { Self.children(of: inner) }

  /// Writes to the standard input of the program.
  func write(_ text: String) throws {
    try handle.input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Sends a signal to the program, if it is still running.
  func signal(_ number: Int32) {
    if handle.process.isRunning { Self.signal(number, to: [inner]) }
  }

  /// Continues the program after SIGSTOP, and the command that entered the lab, which stopped with
  /// it.
  func resume() { Self.signal(SIGCONT, to: Self.descendants(of: pid)) }

  /// Sends SIGTERM and waits for the end of the process.
  func end() async {
    signal(SIGTERM)
    _ = await status
  }

  private static func signal(_ number: Int32, to processes: [Int32]) {
    for process in processes { kill(process, number) }
  }

  /// The child processes that the threads of a process have started.
  private static func children(of pid: Int32) -> [Int32] {
    let tasks = "/proc/\(pid)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.flatMap { thread in
      let path = "\(tasks)/\(thread)/children"
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// The children of a process and their descendants, the innermost first.
  private static func descendants(of pid: Int32) -> [Int32] {
    children(of: pid).flatMap { descendants(of: $0) + [$0] }
  }
}
