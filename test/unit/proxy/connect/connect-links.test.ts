import { describe, expect, test } from '@jest/globals';

import { ConnectLinks, type LinkReturn } from '../../../../proxy/connect/connect-links.ts';
import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import { anOrigin } from '../../../support/an-origin.ts';

const MINUTE = 60_000;
const ORIGIN = anOrigin('https://mcp.example.com');
const ALICE = { provider: 'corp', issuer: 'https://idp.example', subject: 'alice' };

const clock = { now: 0 };
const sealer = new Sealer([{ secret: Buffer.alloc(32, 1) }]);
const links = new ConnectLinks({ sealer, now: () => clock.now });

function sealedIn(url: string): string {
  return new URL(url).searchParams.get('link') ?? '';
}

describe('a link to connect', () => {
  test.each<LinkReturn>([
    { kind: 'page' },
    { kind: 'account' },
    { kind: 'authorization', requestId: 'request-1' },
  ])('that returns to $kind says for whom and what it is', (returnTo) => {
    const url = links.urlFor({ user: ALICE, routeId: 'route-1', returnTo }, ORIGIN);

    expect(url).toMatch(/^https:\/\/mcp\.example\.com\/\.gateway\/mcp\/connect\?link=[\w-]+$/);
    expect(links.open(sealedIn(url), ORIGIN)).toEqual({
      ...{ user: ALICE, routeId: 'route-1', returnTo },
      isExpired: false,
    });
  });

  const url = links.urlFor({ user: ALICE, routeId: 'route-1', returnTo: { kind: 'page' } }, ORIGIN);

  test('carries the trace in which it was made', () => {
    const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: false };
    const returnTo = { kind: 'account' } as const;
    const traced = links.urlFor({ user: ALICE, routeId: 'route-1', returnTo, trace }, ORIGIN);
    expect(links.open(sealedIn(traced), ORIGIN)?.trace).toEqual(trace);
    expect(Buffer.from(sealedIn(traced), 'base64url').toString('latin1')).not.toContain('aaaa');
  });

  test('of an earlier release has no trace', () => {
    const members = ['corp', null, 'alice', 'route-1', 'page', null, 10 * MINUTE];
    const sealed = sealer.seal(JSON.stringify(members), `connect-link ${ORIGIN}`);
    expect(links.open(sealed, ORIGIN)).not.toHaveProperty('trace');
  });

  test('shows nothing of the user', () => {
    expect(Buffer.from(sealedIn(url), 'base64url').toString('latin1')).not.toContain('alice');
  });

  test('opens at its own host only', () => {
    expect(links.open(sealedIn(url), anOrigin('https://other.example.com'))).toBeNull();
  });

  test('does not open if it was changed, or sealed by others', () => {
    const others = new ConnectLinks({
      sealer: new Sealer([{ secret: Buffer.alloc(32, 2) }]),
      now: () => 0,
    });
    const theirs = others.urlFor(
      { user: ALICE, routeId: 'route-1', returnTo: { kind: 'page' } },
      ORIGIN,
    );
    expect(links.open(sealedIn(theirs), ORIGIN)).toBeNull();
    expect(links.open(`${sealedIn(url)}A`, ORIGIN)).toBeNull();
    expect(links.open('', ORIGIN)).toBeNull();
  });

  test('expires after an hour', () => {
    clock.now = 60 * MINUTE - 1;
    expect(links.open(sealedIn(url), ORIGIN)?.isExpired).toBe(false);
    clock.now = 60 * MINUTE;
    expect(links.open(sealedIn(url), ORIGIN)?.isExpired).toBe(true);
    clock.now = 0;
  });

  test('of a user without a known issuer stays without one', () => {
    const user = { provider: 'corp', subject: 'alice' };
    const opened = links.open(
      sealedIn(links.urlFor({ user, routeId: 'route-1', returnTo: { kind: 'page' } }, ORIGIN)),
      ORIGIN,
    );
    expect(opened?.user).toStrictEqual(user);
  });
});
