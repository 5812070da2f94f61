/**
 * Describes an error: its name and message, its code unless the message ends with it, then those of its causes.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isSaid = error.message.endsWith(code);
  const own = `${error.name}: ${error.message}${isSaid ? '' : ` (${code})`}`;
  return error.cause === undefined ? own : `${own}; caused by ${describeError(error.cause)}`;
}
