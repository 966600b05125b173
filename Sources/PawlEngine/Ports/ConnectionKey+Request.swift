package import PawlCore

extension ConnectionKey {
    package init(_ request: TransferRequest) {
        self.init(
            request.address.origin,
            interface: request.settings.values.interface,
            settings: request.settings.id,
            carriesSecrets: request.carriesSecrets
        )
    }
}
