import { describe, expect, test } from '@jest/globals';

import {
  describeRedisFailure,
  needsOperator,
} from '../../../../proxy/store/redis/connection/redis-failure.ts';
import { inTime, monotonicClock } from '../../../../shared/runtime/clock.ts';
import { ReplyError } from '../../../../proxy/store/redis/connection/reply-error.ts';

function reasonOf(reply: string): string {
  return describeRedisFailure(new ReplyError(reply));
}

/** Replies after which a starting proxy waits, because they end without a change of settings. */
const PASSING = [
  'ERR max number of clients reached',
  'ERR upstream connection error',
  'no upstream host',
  'LOADING Redis is loading the dataset in memory',
  'READONLY You can not write against a read only replica.',
  'OOM command not allowed when used memory > maxmemory.',
  'MASTERDOWN Link with MASTER is down',
  'CLUSTERDOWN The cluster is down',
];

const LASTING: readonly (readonly [reply: string, said: string])[] = [
  ['WRONGPASS invalid username-password pair', 'user or password is wrong'],
  ['NOAUTH Authentication required.', 'user and password are missing'],
  ["NOPERM User x has no permissions to run the 'eval' command", 'may not run eval'],
  ['NOPERM No permissions to access a key', 'may not use the keys of this prefix'],
  ['NOPERM No permissions to access a channel', 'may not use the channels of this prefix'],
  ['ERR This instance has cluster support disabled', 'this is not a Redis Cluster'],
  ['ERR DB index is out of range', 'it has no such database'],
];

describe('a failure of Redis', () => {
  test.each(PASSING)('may end without an operator: %s', (reply) => {
    expect(needsOperator(reasonOf(reply))).toBe(false);
  });

  test.each(LASTING)('needs an operator: %s', (reply, said) => {
    expect(reasonOf(reply)).toContain(said);
    expect(needsOperator(reasonOf(reply))).toBe(true);
  });

  test.each(['CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'DEPTH_ZERO_SELF_SIGNED_CERT'])(
    'is for a person to mend when the certificate does not fit: %s',
    (code) => {
      const failure = Object.assign(new Error('tls'), { code });
      expect(needsOperator(describeRedisFailure(failure))).toBe(true);
    },
  );

  test('that a deadline reports has a reason', async () => {
    const failure = await inTime(monotonicClock, 0, new Promise(() => undefined)).catch(
      (error: unknown) => error,
    );
    expect(describeRedisFailure(failure)).toBe('no answer in time');
  });

  test('that breaks a connection may end without an operator', () => {
    for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ERR_SSL_SSL/TLS_ALERT_INTERNAL_ERROR']) {
      const failure = Object.assign(new Error('connection'), { code });
      expect(needsOperator(describeRedisFailure(failure))).toBe(false);
    }
  });
});
