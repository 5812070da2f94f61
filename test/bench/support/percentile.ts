/** Returns a percentile of the values (`fraction` is from 0 to 1); NaN if there are none. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN;
}

/** Returns the value in the middle; NaN if there are none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
