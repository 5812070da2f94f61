import { expect } from '@jest/globals';

import { aRoute, type Reply } from './authorization-server.ts';
import { fieldsOf } from './client-flow.ts';

/** In milliseconds. */
export const MINUTE = 60_000;
/** Issuer of the second host of `TWO_HOSTS`. */
export const OTHER_ISSUER = 'https://other.example.com';
/** An MCP route on each of two hosts. */
export const TWO_HOSTS = [aRoute(), aRoute({ host: 'other.example.com' })];
/** Lifetimes without a grace: a rotated refresh token is refused at once. */
export const STRICT = {
  externalTokenSeconds: 900,
  refreshTokenSeconds: 30 * 24 * 3600,
  refreshTokenGraceSeconds: 0,
};

/** Parameters that replace those of a valid request; `undefined` leaves one out. */
export type Changes = Readonly<Record<string, string | undefined>>;

/** Expects an OAuth error that must not be cached. */
export function expectError(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, error: fieldsOf(reply)['error'] }).toEqual({
    status,
    error: code,
  });
  expect(reply.headers['cache-control']).toBe('no-store');
}
