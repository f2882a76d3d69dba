import CUVLoop
import CaromCore

/// A descriptor watch's poll handle and callback, held by the loop until they are closed.
@safe final class DescriptorWatchCore: LoopResource {
  private var handle: OpaquePointer?
  private var readable: (() -> Void)?

  init(
    core: LoopCore, descriptor: Int32, _ readable: @escaping () -> Void
  ) throws(TransportError) {
    self.readable = readable
    super.init(core: core)
    let loop = try unsafe core.systemHandle("watch a descriptor")
    var out: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_input_create(
      loop, descriptor, context,
      { context in
        unsafe Unmanaged<DescriptorWatchCore>.fromOpaque(context).takeUnretainedValue().report()
      }, &out)
    try check(status, "watch a descriptor")
    unsafe handle = unsafe out
    didOpen()
  }

  private func report() {
    let readable = readable
    readable?()
  }

  override func didClose() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    readable = nil
    unsafe cuv_input_destroy(open)
  }
}
