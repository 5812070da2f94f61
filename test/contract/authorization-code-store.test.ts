import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { AuthorizationCode } from '../../proxy/records/authorization-code.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const HASH = hashToken('hash');

const CODE: AuthorizationCode = {
  issuer: 'https://mcp.example.com',
  clientId: 'client-1',
  redirectUri: 'http://127.0.0.1:5000/callback',
  codeChallenge: 'challenge',
  sessionId: 'session-1',
  resource: 'https://mcp.example.com/',
  scopes: ['mcp', 'offline_access'],
  grantId: 'grant-1',
};
const TTL_SECONDS = 60;
const MEMORY_SECONDS = 600;

describe.each(STORE_IMPLEMENTATIONS)('authorization code store in $name', ({ create }) => {
  test('gives a code to the first consumer, and reports reuse to the next', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    await authorizationCodes.save(HASH, CODE, TTL_SECONDS);
    const outcomes = [
      await authorizationCodes.consume(HASH, MEMORY_SECONDS),
      await authorizationCodes.consume(HASH, MEMORY_SECONDS),
    ];
    expect(outcomes).toEqual([
      { kind: 'consumed', code: CODE },
      { kind: 'reused', code: CODE },
    ]);
  });

  test('gives a code to one of fifty concurrent consumers, and reports reuse to the others', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    await authorizationCodes.save(HASH, CODE, TTL_SECONDS);
    const outcomes = await fiftyAtOnce(() => authorizationCodes.consume(HASH, MEMORY_SECONDS));
    const kinds = outcomes.map((outcome) => outcome?.kind);
    expect(kinds.filter((kind) => kind === 'consumed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'reused')).toHaveLength(49);
  });

  test('knows no code that was not issued', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    expect(await authorizationCodes.peek(HASH)).toBeNull();
    expect(await authorizationCodes.consume(HASH, MEMORY_SECONDS)).toBeNull();
  });

  test('does not return an expired code', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    await authorizationCodes.save(HASH, CODE, TTL_SECONDS);
    await under.advance(TTL_SECONDS);
    expect(await authorizationCodes.peek(HASH)).toBeNull();
    expect(await authorizationCodes.consume(HASH, MEMORY_SECONDS)).toBeNull();
  });

  test('remembers the use of a code after the code would have expired', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    await authorizationCodes.save(HASH, CODE, TTL_SECONDS);
    await authorizationCodes.consume(HASH, MEMORY_SECONDS);
    await under.advance(MEMORY_SECONDS - MOMENT_SECONDS);
    const outcome = await authorizationCodes.consume(HASH, MEMORY_SECONDS);
    expect(outcome).toEqual({ kind: 'reused', code: CODE });
    await under.advance(MOMENT_SECONDS);
    expect(await authorizationCodes.consume(HASH, MEMORY_SECONDS)).toBeNull();
  });

  test('reads a code without consuming it, also after use', async () => {
    await using under = await create();
    const { authorizationCodes } = under.stores;
    await authorizationCodes.save(HASH, CODE, TTL_SECONDS);
    expect(await authorizationCodes.peek(HASH)).toEqual(CODE);
    const outcome = await authorizationCodes.consume(HASH, MEMORY_SECONDS);
    expect(outcome).toEqual({ kind: 'consumed', code: CODE });
    expect(await authorizationCodes.peek(HASH)).toEqual(CODE);
  });
});
