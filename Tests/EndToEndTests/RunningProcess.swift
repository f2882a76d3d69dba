import Foundation
import Synchronization

/// A process that a test watches while it runs. It is killed when its time is up, so that
/// whatever waits for it goes on.
final class RunningProcess: Sendable {
  /// How long a process may run unless its test says otherwise.
  static let limit = Duration.seconds(40)

  /// Unchecked: it is set up before it is shared, and only kept alive afterwards.
  private struct Handle: @unchecked Sendable {
    let process = Process()
    /// Held open: some commands end with their input.
    let input = Pipe()
    let output = Pipe()
    let errors = Pipe()

    /// No other process is to inherit the pipes: they would not end while it runs.
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
  }

  /// One at a time: a process that starts meanwhile would inherit half-made pipes.
  private static let spawning = Mutex(())

  let output = LineLog()
  let errors = LineLog()
  private let handle: Handle
  private let pid: Int32
  private let isWrapped: Bool
  private let watchdog: Task<Void, any Error>

  /// Runs the command, and says on both outputs how it ended. (Neither the end of a pipe nor the
  /// end of a process would tell: something else may have inherited the other end.)
  private static let shell = """
    "$0" "$@"
    status=$?
    echo "\(LineLog.endMark)$status"
    echo "\(LineLog.endMark)$status" >&2
    """

  /// Starts it. One that is wrapped is run by a command that leads into a lab.
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
    let (pid, output, errors) = (handle.process.processIdentifier, output, errors)
    self.pid = pid
    watchdog = Task {
      try await Task.sleep(for: limit)
      Self.signal(SIGKILL, to: Self.descendants(of: pid) + [pid])
      output.end()
      errors.end()
    }
  }

  /// Reads to the end on a thread of its own. (A `readabilityHandler` loses events when the
  /// descriptors of other pipes that were just closed come back.)
  private static func read(_ pipe: Pipe, into log: LineLog) {
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread {
      while case let data = handle.availableData, !data.isEmpty { log.append(data) }
    }
  }

  /// The exit status, 128 more than the signal that ended it, or -1 where its time was up.
  var status: Int32 {
    get async {
      let status = await errors.status
      watchdog.cancel()
      return status ?? -1
    }
  }

  /// The process that was asked for, without what leads to it.
  var inner: Int32 {
    let child = Self.children(of: pid).first ?? pid
    return isWrapped ? Self.children(of: child).first ?? child : child
  }

  /// What it has started itself and still runs.
  var children: [Int32] { Self.children(of: inner) }

  /// Sends a signal to the process that was asked for.
  func signal(_ number: Int32) { Self.signal(number, to: [inner]) }

  /// Lets it go on after a stop, and what leads into a lab too, which stops along.
  func resume() { Self.signal(SIGCONT, to: Self.descendants(of: pid)) }

  /// Asks it to end, and waits for that.
  func end() async {
    signal(SIGTERM)
    _ = await status
  }

  private static func signal(_ number: Int32, to processes: [Int32]) {
    for process in processes { kill(process, number) }
  }

  /// What any thread of a process has started.
  private static func children(of pid: Int32) -> [Int32] {
    let tasks = "/proc/\(pid)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.flatMap { thread in
      let path = "\(tasks)/\(thread)/children"
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// Children and their children, the innermost first.
  private static func descendants(of pid: Int32) -> [Int32] {
    children(of: pid).flatMap { descendants(of: $0) + [$0] }
  }
}
