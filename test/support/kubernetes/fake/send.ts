import type { ServerResponse } from 'node:http';

import { StatusError } from './status-error.ts';

/** Sends a whole response, unless the client has left. */
export function sendJson(
  response: ServerResponse,
  code: number,
  text: string,
  warnings: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return;
  if (warnings.length > 0) response.setHeader('warning', warnings);
  response.writeHead(code, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
  });
  response.end(text);
}

/** Sends a response that is not an object: health, or an unknown path. */
export function sendText(response: ServerResponse, code: number, text: string): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(text);
}

/** Sends an error as its `Status`. */
export function sendError(response: ServerResponse, error: unknown): void {
  const refusal =
    error instanceof StatusError
      ? error
      : new StatusError(500, 'InternalError', error instanceof Error ? (error.stack ?? '') : '');
  const seconds = refusal.details?.['retryAfterSeconds'];
  if (typeof seconds === 'number') response.setHeader('retry-after', seconds);
  sendJson(response, refusal.code, JSON.stringify(refusal.toStatus()));
}
