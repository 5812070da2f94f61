/**
 * Formats a time as `MicroTime` of the Kubernetes API, which requires exactly six fractional digits.
 */
export function microTime(time: Date): string {
  return time.toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
