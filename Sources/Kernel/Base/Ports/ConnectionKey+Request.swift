extension ConnectionKey {
    package init(_ request: TransferRequest) {
        self.init(
            request.address.origin, interface: request.settings.values.interface,
            ipVersion: request.settings.values.ipVersion, settings: request.settings.id,
            overridesAddresses: !request.settings.values.addressOverrides.isEmpty,
            carriesSecrets: request.carriesSecrets)
    }
}
