/**
 * Describes an error: its name and message, then those of its causes.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  const own = `${error.name}: ${error.message}${code}`;
  return error.cause === undefined ? own : `${own}; caused by ${describeError(error.cause)}`;
}
