import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The state of a loop's thread. It lives until the thread has ended, which may be after the
/// `NetworkLoop` was released.
///
/// Unchecked: `inbox` is guarded by its lock; everything else is accessed only by the loop's
/// thread, and by `make` before that thread starts.
@safe final class LoopCore: @unchecked Sendable {
  /// Work to run on the loop's thread. The conformance is unchecked, but safe: each item is handed
  /// over once and run once.
  enum Work: @unchecked Sendable {
    case job(UnownedJob)
    case call(() -> Void)
  }

  /// The state that other threads share with the loop's thread.
  struct Inbox {
    var work: [Work] = []
    var isClosed = false
    /// Whether the loop has been freed.
    var hasEnded = false
    var wakePending = false
    var hasLateThread = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The maximum number of work items that run between two polls for events. Without it, work that
  /// keeps enqueuing more work would starve the sockets.
  static let maximumWorkPerTurn = 4096

  let inbox = Locked(Inbox())
  let name: String
  let spins: Bool
  /// The simulated system that drives the loop; nil if the operating system does.
  let system: (any VirtualSystem)?

  // Accessed only by the loop's thread:
  private(set) var handle: OpaquePointer?
  private(set) var timers: TimerQueue?
  var load = LoopLoad()
  private var resources: [ObjectIdentifier: LoopResource] = [:]
  /// The resources to notify when a file descriptor becomes free.
  var waitingForDescriptor: [ObjectIdentifier: LoopResource] = [:]
  private var local: [Work] = []
  private var spare: [Work] = []
  private var scratch: [UInt8] = []
  private var hasStopped = false
  private var areTimersDue = false
  private var executor: UnownedSerialExecutor?
  private var taskExecutor: UnownedTaskExecutor?

  private init(name: String, spins: Bool, system: (any VirtualSystem)? = nil) {
    self.name = name
    self.spins = spins
    self.system = system
  }

  /// Creates a loop that a simulated system drives.
  static func make(name: String, system: any VirtualSystem) -> LoopCore {
    let core = LoopCore(name: name, spins: false, system: system)
    core.timers = TimerQueue(simulatedFor: core)
    return core
  }

  /// Creates a loop that no thread runs yet. If `spins` is true, its thread will poll for events
  /// instead of sleeping.
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

  /// Frees a loop whose thread could not be started.
  func abandon() {
    stop()
    unsafe cuv_loop_run(handle!, false)
    finish()
  }

  /// The unretained pointer to this object that C callbacks receive.
  var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// Whether the calling thread is the loop's thread.
  var isCurrent: Bool {
    if let system { return system.thread.isCurrent }
    return unsafe cuv_current() == context
  }

  /// The current time on the clock that the loop's timers use.
  var now: Instant { system?.now ?? NetworkLoop.now }

  /// Whether sockets can be opened. Accessed only on the loop's thread.
  var isOpen: Bool { unsafe (handle != nil || system != nil) && !hasStopped }

  /// Returns the C loop. Throws an error if the loop is closed or simulated.
  func systemHandle(_ operation: StaticText) throws(TransportError) -> OpaquePointer {
    guard isOpen else { throw .closed }
    guard let handle = unsafe handle else {
      throw TransportError(status: -ENOTSUP, operation)
    }
    return unsafe handle
  }

  func use(executor: UnownedSerialExecutor, taskExecutor: UnownedTaskExecutor) {
    unsafe self.executor = unsafe executor
    unsafe self.taskExecutor = unsafe taskExecutor
  }

  // Work

  /// Runs `work` on the loop's thread, after the work that is already queued there.
  func enqueue(_ work: Work) {
    if let system { return system.enqueue { self.run(work) } }
    if isCurrent && !hasStopped {
      local.append(work)
    } else {
      post(work)
    }
  }

  private func post(_ work: Work) {
    let needsThread = inbox.withLock { inbox in
      inbox.work.append(work)
      guard inbox.isClosed else {
        // The wake-up happens under the lock, so that the loop cannot be freed before.
        if !inbox.wakePending { unsafe cuv_loop_wake(handle!) }
        inbox.wakePending = true
        return false
      }
      defer { inbox.hasLateThread = true }
      return !inbox.hasLateThread
    }
    if needsThread { startLateThread() }
  }

  /// Makes the loop fire its due timers after its next poll for events.
  func wakeForTimers() {
    guard !areTimersDue else { return }
    areTimersDue = true
    unsafe cuv_loop_wake(handle!)
  }

  /// Runs the queued work. If the loop has been woken, first collects the work that other threads
  /// have queued, and fires the due timers. Called before and after every wait for events.
  private func drain(woken: Bool) {
    if woken {
      collectPostedWork()
      if areTimersDue {
        areTimersDue = false
        timers?.expire()
      }
    }
    var count = 0
    while !local.isEmpty, count < Self.maximumWorkPerTurn {
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

  private func collectPostedWork() {
    let posted = inbox.withLock { inbox in
      inbox.wakePending = false
      defer { inbox.work.removeAll(keepingCapacity: true) }
      return inbox.work
    }
    local.append(contentsOf: posted)
  }

  private func run(_ work: Work) {
    switch work {
    case .call(let body): body()
    case .job(let job):
      unsafe job.runSynchronously(isolatedTo: executor!, taskExecutor: taskExecutor!)
    }
  }

  // Memory

  /// The capacity of the longest array that is kept for the next `withScratch`, in bytes.
  private static let keptScratch = 64 << 10

  /// Calls `body` with an empty array, whose memory is kept from one call to the next. A call
  /// within `body` gets an array of its own.
  func withScratch<Failure: Error>(
    _ body: (inout [UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var bytes: [UInt8] = []
    swap(&bytes, &scratch)
    defer {
      if bytes.capacity <= Self.keptScratch {
        bytes.removeAll(keepingCapacity: true)
        scratch = bytes
      }
    }
    try body(&bytes)
  }

  // Resources

  func add(_ resource: LoopResource) { resources[ObjectIdentifier(resource)] = resource }
  func remove(_ resource: LoopResource) { resources[ObjectIdentifier(resource)] = nil }

  /// Notifies `resource`, on the loop's thread, that its public handle has been released.
  func release(_ resource: LoopResource) {
    if isCurrent {
      resource.handleReleased()
    } else {
      enqueue(.call { resource.handleReleased() })
    }
  }

  /// Notifies the resources that wait for a free file descriptor, because a descriptor was closed.
  /// They are notified once the current work item has finished.
  func didCloseDescriptor() {
    guard !waitingForDescriptor.isEmpty else { return }
    enqueue(
      .call { [weak self] in
        guard let self else { return }
        for resource in waitingForDescriptor.values { resource.descriptorAvailable() }
      })
  }

  // Shutdown

  /// Schedules `stop` on the loop's thread, unless the loop has already stopped.
  func requestStop() {
    if !inbox.withLock({ $0.isClosed }) { enqueue(.call { self.stop() }) }
  }

  /// Closes all resources and the loop's own handles. Traps if other handles are still open.
  func stop() {
    guard !hasStopped else { return }
    for case let hook as ShutdownCore in resources.values { hook.shutDown() }
    while let (_, resource) = resources.first { resource.shutDown() }
    hasStopped = true
    timers?.close()
    if system != nil { return finishSimulated() }
    inbox.withLock { inbox in
      inbox.isClosed = true
      inbox.hasLateThread = true  // until `finish` knows whether one is needed
    }
    var names = [CChar](repeating: 0, count: 256)
    let count = unsafe cuv_loop_stop(handle!, &names, names.count)
    guard count == 0 else {
      let list = String(
        decoding: names.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      fatalError("\(name): \(count) handles are open at shutdown, close them first: \(list)")
    }
  }

  /// Resumes the tasks that wait for the shutdown of a loop that has no thread of its own. Work
  /// that is enqueued later still runs on the simulation's thread.
  private func finishSimulated() {
    let waiters = inbox.withLock { inbox in
      inbox.isClosed = true
      inbox.hasEnded = true
      defer { inbox.waiters = [] }
      return inbox.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Frees the loop after its thread has left `cuv_loop_run`, and resumes the tasks that wait for
  /// the shutdown.
  func finish() {
    let status = unsafe cuv_loop_destroy(handle!)
    guard status == 0 else { fatalError("\(name): uv_loop_close returned \(status), expected 0") }
    unsafe handle = nil
    let (waiters, needsThread) = inbox.withLock { inbox in
      inbox.work = local + inbox.work
      inbox.hasLateThread = !inbox.work.isEmpty
      inbox.hasEnded = true
      defer { inbox.waiters = [] }
      return (inbox.waiters, inbox.hasLateThread)
    }
    local = []
    if needsThread { startLateThread() }
    for waiter in waiters { waiter.resume() }
  }

  /// Runs the work that was enqueued after the loop had ended, until none is left.
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

  /// Starts the loop's thread, which retains this object until it ends.
  func startThread() throws(TransportError) -> OpaquePointer {
    try unsafe startThread { context in
      let core = unsafe Unmanaged<LoopCore>.fromOpaque(context).takeRetainedValue()
      unsafe cuv_set_current(context)
      unsafe cuv_loop_run(core.handle!, core.spins)
      core.finish()
      cuv_set_current(nil)
    }
  }

  /// Starts a short-lived thread for work that is enqueued after the loop has ended, such as the
  /// remaining jobs of tasks that run on this executor.
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
      fatalError("\(name): cannot start a thread for work after shutdown: \(error)")
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
