import CUVLoop
import CaromCore

/// What the loop's thread works on: it outlives the `NetworkLoop` until that thread has ended.
///
/// Unchecked: `inbox` is guarded by its lock; everything else is touched by the loop's thread
/// alone, and by `make` before that thread starts.
@safe final class LoopCore: @unchecked Sendable {
  /// Something to run on the loop's thread. Unchecked: it is handed over once, and run once.
  enum Work: @unchecked Sendable {
    case job(UnownedJob)
    case call(() -> Void)
  }

  /// What other threads leave for the loop's.
  struct Inbox {
    var work: [Work] = []
    var isClosed = false
    var wakePending = false
    var hasLateThread = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Jobs run between two polls for events, so that jobs that beget jobs starve no socket.
  static let jobsATurn = 4096

  let inbox = Locked(Inbox())
  let name: String
  let spins: Bool

  // The loop's thread alone:
  private(set) var handle: OpaquePointer?
  private(set) var timers: TimerQueue?
  private var resources: [ObjectIdentifier: LoopResource] = [:]
  /// Listeners that wait until a descriptor is free.
  var waiting: [ObjectIdentifier: ListenerCore] = [:]
  private var local: [Work] = []
  private var spare: [Work] = []
  private var hasStopped = false
  private var areTimersDue = false
  private var executor: UnownedSerialExecutor?
  private var taskExecutor: UnownedTaskExecutor?

  private init(name: String, spins: Bool) {
    self.name = name
    self.spins = spins
  }

  /// A loop that no thread runs yet.
  static func make(name: String, spins: Bool) throws(TransportError) -> LoopCore {
    let core = LoopCore(name: name, spins: spins)
    var out: OpaquePointer?
    let drain: cuv_drain = { context, woken in
      unsafe Unmanaged<LoopCore>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.drain(woken: woken)
      }
    }
    try check(unsafe cuv_loop_create(core.context, drain, &out), "open a loop")
    unsafe core.handle = unsafe out
    do throws(TransportError) {
      core.timers = try TimerQueue(core: core)
    } catch {
      core.abandon()
      throw error
    }
    return core
  }

  /// Frees a loop that no thread runs.
  func abandon() {
    stop()
    unsafe cuv_loop_run(handle!, false)
    finish()
  }

  /// This object for C, which holds no reference.
  var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// Whether the calling thread runs this loop.
  var isCurrent: Bool { unsafe cuv_current() == context }

  /// Whether sockets can still be opened; the loop's thread alone.
  var isOpen: Bool { unsafe handle != nil && !hasStopped }

  func use(executor: UnownedSerialExecutor, taskExecutor: UnownedTaskExecutor) {
    unsafe self.executor = unsafe executor
    unsafe self.taskExecutor = unsafe taskExecutor
  }

  // Work

  /// Runs `work` on the loop's thread, after what is running there.
  func enqueue(_ work: Work) {
    if isCurrent && !hasStopped {
      local.append(work)
    } else {
      mail(work)
    }
  }

  private func mail(_ work: Work) {
    let needsThread = inbox.withLock { inbox in
      inbox.work.append(work)
      guard inbox.isClosed else {
        // Under the lock, so that the loop cannot be freed before it is woken.
        if !inbox.wakePending { unsafe cuv_loop_wake(handle!) }
        inbox.wakePending = true
        return false
      }
      defer { inbox.hasLateThread = true }
      return !inbox.hasLateThread
    }
    if needsThread { startLateThread() }
  }

  /// A timer is due already: it fires after the next look at the sockets.
  func wakeForTimers() {
    guard !areTimersDue else { return }
    areTimersDue = true
    unsafe cuv_loop_wake(handle!)
  }

  /// Around every wait for events: runs what came from here and from other threads.
  private func drain(woken: Bool) {
    if woken {
      takeMail()
      if areTimersDue {
        areTimersDue = false
        timers?.expire()
      }
    }
    var count = 0
    while !local.isEmpty, count < Self.jobsATurn {
      var batch = local
      local = []
      swap(&local, &spare)
      count += batch.count
      for work in batch { run(work) }
      batch.removeAll(keepingCapacity: true)
      spare = batch
    }
    if !local.isEmpty, !hasStopped { unsafe cuv_loop_wake(handle!) }
  }

  private func takeMail() {
    let mail = inbox.withLock { inbox in
      inbox.wakePending = false
      defer { inbox.work.removeAll(keepingCapacity: true) }
      return inbox.work
    }
    local.append(contentsOf: mail)
  }

  private func run(_ work: Work) {
    switch work {
    case .call(let body): body()
    case .job(let job):
      unsafe job.runSynchronously(isolatedTo: executor!, taskExecutor: taskExecutor!)
    }
  }

  // Resources

  func add(_ resource: LoopResource) { resources[ObjectIdentifier(resource)] = resource }
  func remove(_ resource: LoopResource) { resources[ObjectIdentifier(resource)] = nil }

  /// The last handle of `resource` is gone: says so on the loop's thread.
  func release(_ resource: LoopResource) {
    if isCurrent {
      resource.letGo()
    } else {
      enqueue(.call { resource.letGo() })
    }
  }

  /// A descriptor was closed: listeners that wait for one try again, after what runs now.
  func descriptorIsFree() {
    guard !waiting.isEmpty else { return }
    enqueue(
      .call { [weak self] in
        guard let self else { return }
        for listener in waiting.values { listener.resume() }
      })
  }

  // Ends

  /// Stops soon, on the loop's thread, unless that has happened.
  func requestStop() {
    if !inbox.withLock({ $0.isClosed }) { enqueue(.call { self.stop() }) }
  }

  /// Closes everything that is open, and says what was left open against the rules.
  func stop() {
    guard !hasStopped else { return }
    for case let hook as ShutdownCore in resources.values { hook.shutDown() }
    while let (_, resource) = resources.first { resource.shutDown() }
    hasStopped = true
    timers?.close()
    inbox.withLock { inbox in
      inbox.isClosed = true
      inbox.hasLateThread = true  // until `finish` knows whether one is needed
    }
    var names = [CChar](repeating: 0, count: 256)
    let count = unsafe cuv_loop_stop(handle!, &names, names.count)
    guard count == 0 else {
      let list = String(
        decoding: names.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      fatalError("\(name): \(count) handles are open at shutdown: \(list); close them first")
    }
  }

  /// After the loop has run dry: frees it, and says so to those who wait.
  func finish() {
    let status = unsafe cuv_loop_destroy(handle!)
    guard status == 0 else { fatalError("\(name): uv_loop_close says \(status), expected 0") }
    unsafe handle = nil
    let (waiters, needsThread) = inbox.withLock { inbox in
      inbox.work = local + inbox.work
      inbox.hasLateThread = !inbox.work.isEmpty
      defer { inbox.waiters = [] }
      return (inbox.waiters, inbox.hasLateThread)
    }
    local = []
    if needsThread { startLateThread() }
    for waiter in waiters { waiter.resume() }
  }

  /// Runs what is enqueued after the loop has ended, until nothing is left.
  private func runLate() {
    while true {
      let batch = inbox.withLock { inbox in
        defer { inbox.work = [] }
        inbox.hasLateThread = !inbox.work.isEmpty
        return inbox.work
      }
      if batch.isEmpty { return }
      for work in batch { run(work) }
    }
  }

  // Threads

  /// Starts the loop's thread, which keeps this object until it ends.
  func startThread() throws(TransportError) -> OpaquePointer {
    try unsafe startThread { context in
      let core = unsafe Unmanaged<LoopCore>.fromOpaque(context).takeRetainedValue()
      unsafe cuv_set_current(context)
      unsafe cuv_loop_run(core.handle!, core.spins)
      core.finish()
      cuv_set_current(nil)
    }
  }

  /// A task may finish on an executor that has ended: a short thread of its own runs the rest.
  private func startLateThread() {
    do throws(TransportError) {
      let thread = try unsafe startThread { context in
        let core = unsafe Unmanaged<LoopCore>.fromOpaque(context).takeRetainedValue()
        unsafe cuv_set_current(context)
        core.runLate()
        cuv_set_current(nil)
      }
      unsafe cuv_thread_detach(thread)
    } catch {
      fatalError("\(name): no thread for what is left to run after shutdown: \(error)")
    }
  }

  private func startThread(
    _ body: @convention(c) (UnsafeMutableRawPointer) -> Void
  ) throws(TransportError) -> OpaquePointer {
    var thread: OpaquePointer?
    let context = unsafe Unmanaged.passRetained(self)
    let status = unsafe cuv_thread_start(name, context.toOpaque(), body, &thread)
    if status != 0 { unsafe context.release() }
    try check(status, "start a thread")
    return unsafe thread!
  }
}
