/**
 * A point in time as `MicroTime` of the Kubernetes API: the API server takes six fractional digits,
 * no more and no fewer.
 */
export function microTime(time: Date): string {
  return time.toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
