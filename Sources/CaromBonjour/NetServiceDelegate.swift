import Foundation

/// What a `NetService` reports, on a serial queue. All methods have default implementations that do
/// nothing.
public protocol NetServiceDelegate: AnyObject {
  /// The service is about to be published.
  func netServiceWillPublish(_ sender: NetService)
  /// The service is visible. `sender.name` is its final name.
  func netServiceDidPublish(_ sender: NetService)
  /// The service is not visible, for the reason in the dictionary.
  func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber])
  /// The service is about to be resolved.
  func netServiceWillResolve(_ sender: NetService)
  /// The service's addresses are known. Called again if they change within the time limit.
  func netServiceDidResolveAddress(_ sender: NetService)
  /// The service was not resolved, for the reason in the dictionary.
  func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber])
  /// The service was stopped.
  func netServiceDidStop(_ sender: NetService)
  /// The TXT record of a service that is monitored has changed.
  func netService(_ sender: NetService, didUpdateTXTRecord data: Data)
}

extension NetServiceDelegate {
  /// Does nothing.
  public func netServiceWillPublish(_ sender: NetService) {}
  /// Does nothing.
  public func netServiceDidPublish(_ sender: NetService) {}
  /// Does nothing.
  public func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {}
  /// Does nothing.
  public func netServiceWillResolve(_ sender: NetService) {}
  /// Does nothing.
  public func netServiceDidResolveAddress(_ sender: NetService) {}
  /// Does nothing.
  public func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {}
  /// Does nothing.
  public func netServiceDidStop(_ sender: NetService) {}
  /// Does nothing.
  public func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {}
}
