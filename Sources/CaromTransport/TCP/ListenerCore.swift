import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A listener's resources, held by the loop until they are closed.
@safe final class ListenerCore: LoopResource {
  private weak var loop: NetworkLoop?
  private var handle: OpaquePointer?
  /// The listener of a simulated host.
  private var virtual: (any VirtualPort)?
  private var handler: ((TCPListener.Event) -> Void)?
  private var retry: TimerCore?
  private(set) var local: Endpoint
  private(set) var isPaused = false
  private(set) var acceptedCount = 0
  private(set) var pauseCount = 0
  private(set) var lostCount = 0
  private var isHeldByOwner = false
  /// The streams that a simulated host has accepted while the owner holds the listener.
  private var virtualBacklog: [any VirtualStreamEnd] = []

  init(
    loop: NetworkLoop, bind local: Endpoint, options: TCPListener.Options,
    _ handler: @escaping (TCPListener.Event) -> Void
  ) throws(TransportError) {
    self.loop = loop
    self.local = local
    super.init(core: loop.core)
    guard core.isOpen else { throw .closed }
    self.handler = handler
    if let system = core.system {
      try open(in: system, options)
      return
    }
    var out: OpaquePointer?
    var options = cuv_listen_options(
      local: local.c, backlog: Int32(clamping: options.backlog), reuse_port: options.reusePort,
      v6_only: options.v6Only)
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_listener_create(
      core.handle!, &options, context,
      { context, descriptor, peer in
        let core = unsafe Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
        core.accept(descriptor, from: unsafe Endpoint(peer.pointee))
      }, &out)
    try check(status, "listen", at: local)
    let handle = unsafe out!
    unsafe self.handle = handle
    didOpen()
    do throws(TransportError) {
      self.local = try Endpoint.reading("name a listener") {
        unsafe cuv_listener_local(handle, &$0)
      }
    } catch {
      close()
      throw error
    }
    retry = TimerCore(core: core) { [weak self] in self?.descriptorAvailable() }
  }

  private func open(
    in system: any VirtualSystem, _ options: TCPListener.Options
  ) throws(TransportError) {
    guard !options.reusePort else { throw .portSharingUnsupported }
    let port = try system.listen(on: local) { [weak self] end in self?.accept(end) }
    virtual = port
    local = port.local
    didOpen()
  }

  private func accept(_ end: any VirtualStreamEnd) {
    guard let loop else { return end.destroy(reset: true) }
    if isHeldByOwner { return virtualBacklog.append(end) }
    do throws(TransportError) {
      let stream = try TCPStream(on: loop, taking: .virtual(end), peer: end.peer)
      acceptedCount += 1
      emit(.accepted(stream))
    } catch {
      lostCount += 1
    }
  }

  override func didClose() {
    virtual?.close()
    virtual = nil
    for end in virtualBacklog { end.destroy(reset: true) }
    virtualBacklog = []
    handler = nil
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_listener_destroy(open)
    core.waitingForDescriptor[ObjectIdentifier(self)] = nil
    retry?.close()
    retry = nil
  }

  /// Handles an accepted connection. A negative `descriptor` is a negated errno: the system has run
  /// out of descriptors or memory, or the connection was aborted before it was accepted.
  private func accept(_ descriptor: Int32, from peer: Endpoint) {
    switch -descriptor {
    case ...0: break
    case EMFILE, ENFILE, ENOBUFS, ENOMEM:
      return pause(TransportError(status: descriptor, "accept"))
    default:
      lostCount += 1
      return
    }
    guard let loop else { return cuv_descriptor_close(descriptor) }
    if isPaused {
      isPaused = false
      emit(.resumed)
    }
    do throws(TransportError) {
      let stream = try TCPStream(on: loop, descriptor: descriptor, peer: peer)
      acceptedCount += 1
      emit(.accepted(stream))
    } catch {
      lostCount += 1
    }
  }

  /// Sets whether connections are accepted or left in the backlog. While the listener waits for a
  /// descriptor, this takes effect when it tries to accept again.
  func setAccepting(_ isOn: Bool) {
    isHeldByOwner = !isOn
    if isOn, virtual != nil {
      let waiting = virtualBacklog
      virtualBacklog = []
      for end in waiting { accept(end) }
    }
    let isWaiting = core.waitingForDescriptor[ObjectIdentifier(self)] != nil
    guard let handle = unsafe handle, !isWaiting else { return }
    _ = unsafe cuv_listener_set_accepting(handle, isOn)
  }

  /// Stops accepting until a descriptor is free or `retryInterval` has passed.
  private func pause(_ error: TransportError) {
    guard let handle = unsafe handle else { return }
    _ = unsafe cuv_listener_set_accepting(handle, false)
    core.waitingForDescriptor[ObjectIdentifier(self)] = self
    retry?.arm(at: core.now + TCPListener.retryInterval)
    guard !isPaused else { return }
    isPaused = true
    pauseCount += 1
    emit(.paused(error))
  }

  /// Tries to accept again. If there is still no free descriptor, the listener pauses again without
  /// another event.
  override func descriptorAvailable() {
    core.waitingForDescriptor[ObjectIdentifier(self)] = nil
    retry?.cancel()
    if let handle = unsafe handle { _ = unsafe cuv_listener_set_accepting(handle, !isHeldByOwner) }
  }

  private func emit(_ event: TCPListener.Event) {
    let handler = handler
    handler?(event)
  }
}
