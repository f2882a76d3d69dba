import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A host name lookup with the system's resolver.
@safe final class LookupCore: LoopResource {
  private let host: String
  private var handle: OpaquePointer?
  private var result: Result<[IPAddress], TransportError>?
  private var continuation: CheckedContinuation<Result<[IPAddress], TransportError>, Never>?

  init(core: LoopCore, host: String) {
    self.host = host
    super.init(core: core)
  }

  func start(_ continuation: CheckedContinuation<Result<[IPAddress], TransportError>, Never>) {
    self.continuation = continuation
    if let result { return finish(result) }
    guard core.isOpen else { return finish(.failure(.closed)) }
    guard let loop = unsafe core.handle else { return finish(.failure(.unknownHost(host))) }
    var out: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_lookup_create(
      loop, host, context,
      { context, status, addresses, count in
        let core = unsafe Unmanaged<LookupCore>.fromOpaque(context).takeUnretainedValue()
        unsafe core.receive(status, UnsafeBufferPointer(start: addresses, count: count))
      }, &out)
    guard status == 0 else { return finish(.failure(Self.rejection(of: host, status))) }
    unsafe handle = unsafe out
    didOpen()
  }

  /// Returns the error for a lookup that was rejected before it started: either the system lacked
  /// memory, or the name is invalid.
  static func rejection(of host: String, _ status: Int32) -> TransportError {
    switch -status {
    case ENOMEM, ECANCELED: TransportError(status: status, "look up a host")
    default: .unknownHost(host)
    }
  }

  private func receive(_ status: Int32, _ addresses: UnsafeBufferPointer<cuv_endpoint>) {
    switch Int(status) {
    case 0:
      var seen: Set<IPAddress> = []
      let unique = unsafe addresses.map { Endpoint($0).address }
        .filter { seen.insert($0).inserted }
      finish(unique.isEmpty ? .failure(.unknownHost(host)) : .success(unique))
    case Int(CUV_NAME_UNKNOWN): finish(.failure(.unknownHost(host)))
    default: finish(.failure(.nameServiceFailed(host)))
    }
  }

  func finish(_ result: Result<[IPAddress], TransportError>) {
    self.result = self.result ?? result
    close()
    continuation?.resume(returning: result)
    continuation = nil
  }

  override func didClose() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_lookup_destroy(open)
  }

  override func shutDown() { finish(.failure(.closed)) }
}
