import { badRequest } from './status-error.ts';

const SECOND = 1_000;

/** Formats a time as the API server writes `creationTimestamp`: RFC 3339 in whole seconds. */
export function wholeSeconds(epochMs: number): string {
  return new Date(Math.floor(epochMs / SECOND) * SECOND).toISOString().replace('.000Z', 'Z');
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

export function isRfc3339(text: string): boolean {
  return RFC_3339.test(text) && !Number.isNaN(Date.parse(text));
}

/** Parses a `Time`: any RFC 3339 text, rounded down to whole seconds. */
export function secondsTime(text: string, path: string): string {
  if (!isRfc3339(text)) throw unreadable(text, path, '2006-01-02T15:04:05Z07:00');
  return wholeSeconds(Date.parse(text));
}

/** Parses a `MicroTime`, which has exactly six fractional digits. */
export function microTime(text: string, path: string): string {
  const fraction = /\.(\d{6})(Z|[+-]\d{2}:\d{2})$/.exec(text)?.[1];
  if (!isRfc3339(text) || fraction === undefined) {
    throw unreadable(text, path, '2006-01-02T15:04:05.000000Z07:00');
  }
  return wholeSeconds(Date.parse(text)).replace('Z', `.${fraction}Z`);
}

function unreadable(text: string, path: string, layout: string): Error {
  return badRequest(`${path}: parsing time ${JSON.stringify(text)} as "${layout}": cannot parse`);
}
