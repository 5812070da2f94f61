/** Returns the host of an authorization server, for messages. */
export function serverHost(issuer: string): string {
  return URL.parse(issuer)?.host ?? 'without a host';
}
