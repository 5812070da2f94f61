/** Returns the name of the Lease of a gateway class: each class elects its own leader. */
export function leaseName(gatewayClass: string): string {
  return gatewayClass === 'gatehouse'
    ? 'gatehouse-controller'
    : `gatehouse-controller-${gatewayClass}`;
}
