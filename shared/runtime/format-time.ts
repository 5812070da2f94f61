/** Formats a time of the wall clock in whole seconds: `2026-11-23T10:00:00Z` (RFC 3339). */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
