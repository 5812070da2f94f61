/**
 * Fields that the exporter itself decides about, in lower case. HTTP/2 forbids some of them, and with those gRPC
 * would try again without a pause.
 */
const EXPORTER_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Returns what is wrong with a field that is to be added to exports; undefined if nothing is. It does not
 * repeat the value, which may be a secret.
 */
export function exportHeaderFault(name: string, value: string): string | undefined {
  if (!/^[A-Za-z0-9][-._A-Za-z0-9]*$/.test(name)) {
    return 'must have the name of a header field such as X-Api-Key';
  }
  const lower = name.toLowerCase();
  if (EXPORTER_FIELDS.has(lower)) return `must not have ${lower}, which the exporter sets itself`;
  // gRPC has fields of its own, and fields whose values are not text.
  if (lower.startsWith('grpc-') || lower.endsWith('-bin')) {
    return `must not have ${lower}, which is special in gRPC`;
  }
  if (!/^[ -~]*$/.test(value)) return `must have a value of ASCII characters for ${lower}`;
  return undefined;
}
