import { describe, expect, test } from '@jest/globals';

import type { Guard } from '../../../../../../proxy/store/redis/records/guards.ts';
import {
  isBrowserSession,
  isCodeRecord,
  isGrant,
  isPendingAuthorization,
  isPendingSignIn,
  isSession,
  isSignInCode,
} from '../../../../../../proxy/store/redis/records/record-guards.ts';
import { isPendingConnection } from '../../../../../../proxy/store/redis/records/upstream-record-guards.ts';
import {
  A_PENDING_AUTHORIZATION,
  A_PENDING_CONNECTION,
  A_PENDING_SIGN_IN,
  A_SIGN_IN_CODE,
  aBrowserSession,
  aGrant,
  anAuthorizationCode,
  aSession,
} from '../../../../../contract/redis-records.ts';

const TRACE = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: false };
const CODE = anAuthorizationCode('grant-1');

interface Kind {
  readonly kind: string;
  readonly isValue: Guard<unknown>;
  /** Returns a record with a trace, or one without, as earlier releases wrote it. */
  readonly record: (trace?: unknown) => unknown;
}

const KINDS: readonly Kind[] = [
  {
    kind: 'pending sign-in',
    isValue: isPendingSignIn,
    record: (trace) => ({ ...A_PENDING_SIGN_IN, trace }),
  },
  {
    kind: 'sign-in code',
    isValue: isSignInCode,
    record: (trace) => ({ ...A_SIGN_IN_CODE, trace }),
  },
  {
    kind: 'pending authorization',
    isValue: isPendingAuthorization,
    record: (trace) => ({ ...A_PENDING_AUTHORIZATION, trace }),
  },
  {
    kind: 'authorization code',
    isValue: isCodeRecord,
    record: (trace) => ({ code: { ...CODE, trace }, isUsed: false }),
  },
  {
    kind: 'pending connection',
    isValue: isPendingConnection,
    record: (trace) => ({ ...A_PENDING_CONNECTION, trace }),
  },
  {
    kind: 'session',
    isValue: isSession,
    record: (signInTrace) => ({ ...aSession('session-1', 0), signInTrace }),
  },
  {
    kind: 'grant',
    isValue: isGrant,
    record: (signInTrace) => ({ ...aGrant('grant-1'), signInTrace }),
  },
  {
    kind: 'browser session',
    isValue: isBrowserSession,
    record: (trace) => ({
      ...aBrowserSession('session-1'),
      ...(trace !== undefined && { signIn: { trace, endedAt: 1 } }),
    }),
  },
];

describe.each(KINDS)('A $kind record', ({ isValue, record }) => {
  const asRead = (trace?: unknown): unknown => JSON.parse(JSON.stringify(record(trace)));

  test('is read with its trace', () => {
    expect(isValue(asRead(TRACE))).toBe(true);
  });

  test('of an earlier release is read without one', () => {
    expect(isValue(asRead())).toBe(true);
  });

  // Attack: whoever can write to the store writes a trace of their choice.
  test('is refused with a text that is no trace', () => {
    expect(isValue(asRead({ ...TRACE, traceId: 'a\r\nx: y' }))).toBe(false);
    expect(isValue(asRead({ ...TRACE, spanId: 'B'.repeat(16) }))).toBe(false);
  });
});
