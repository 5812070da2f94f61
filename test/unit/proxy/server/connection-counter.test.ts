import { connect } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import {
  ConnectionCounter,
  type ConnectionLimits,
  type ConnectionRefusal,
} from '../../../../proxy/server/connection-counter.ts';
import { RefusalLog } from '../../../../proxy/server/refusal-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { startListener } from '../../../support/listener.ts';
import { RawClient } from '../../../support/raw-http.ts';

const FRONT = '192.0.2.9';

function aCounter(limits: Partial<ConnectionLimits>): {
  readonly counter: ConnectionCounter;
  readonly refusals: readonly ConnectionRefusal[];
} {
  const refusals: ConnectionRefusal[] = [];
  const counter = new ConnectionCounter(
    { total: 0, perClient: 0, ...limits },
    {
      isExempt: (address) => address === FRONT,
      onRefused: (refusal) => refusals.push(refusal),
    },
  );
  return { counter, refusals };
}

/** Returns how many connections of these addresses are admitted, in their order. */
function admitted(counter: ConnectionCounter, addresses: readonly string[]): number {
  return addresses.filter((address) => counter.admit(address)).length;
}

describe('connections', () => {
  test('of one address are bounded, and those of others go on', () => {
    const { counter, refusals } = aCounter({ perClient: 2 });
    expect(admitted(counter, Array<string>(5).fill('192.0.2.1'))).toBe(2);
    expect(admitted(counter, ['192.0.2.2'])).toBe(1);
    const refusal = { reason: 'too-many-connections-of-client', client: '192.0.2.1' };
    expect(refusals).toEqual([refusal, refusal, refusal]);
  });

  test.each([
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['fe80::1%eth0', 'fe80::2%eth0', true],
  ])('of %s and %s count as one client: %p', (first, second, isOne) => {
    const { counter } = aCounter({ perClient: 1 });
    expect(admitted(counter, [first, second])).toBe(isOne ? 1 : 2);
  });

  test('of all clients are bounded together, also those of servers in front', () => {
    const { counter, refusals } = aCounter({ total: 3 });
    expect(admitted(counter, ['192.0.2.1', '192.0.2.2', FRONT, '192.0.2.3', FRONT])).toBe(3);
    expect(refusals.map(({ reason }) => reason)).toEqual([
      'too-many-connections',
      'too-many-connections',
    ]);
  });

  test('of servers in front are not bounded as those of one client', () => {
    const { counter } = aCounter({ perClient: 1 });
    expect(admitted(counter, Array<string>(50).fill(FRONT))).toBe(50);
  });

  test('make room for others when they end', () => {
    const { counter } = aCounter({ total: 2, perClient: 1 });
    for (let round = 0; round < 5; round += 1) {
      expect(admitted(counter, ['192.0.2.1', '192.0.2.1', '2001:db8::1'])).toBe(2);
      counter.release('192.0.2.1');
      counter.release('2001:db8::2');
    }
  });

  test('that are refused are reset before they are read, and leave no trace', async () => {
    const { counter, refusals } = aCounter({ total: 2 });
    await using listener = await startListener({}, counter);
    await using first = await RawClient.connect(listener.port);
    const second = await RawClient.connect(listener.port);
    first.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    second.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    (await listener.next())[1].end('ok');
    (await listener.next())[1].end('ok');
    await first.response();
    await second.response();

    const third = connect(listener.port, '127.0.0.1');
    let received = 0;
    third.on('data', (chunk) => (received += chunk.length)).on('error', () => undefined);
    third.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const wasReset = await new Promise((resolve) => third.once('close', resolve));
    expect({ wasReset, received }).toEqual({ wasReset: true, received: 0 });
    expect(refusals).toHaveLength(1);
    expect(listener.connections()).toBe(2);

    await second[Symbol.asyncDispose]();
    await eventually('its connection has ended', () => listener.connections() === 1);
    await using fourth = await RawClient.connect(listener.port);
    fourth.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    (await listener.next())[1].end('ok');
    expect((await fourth.response()).status).toBe(200);
  });
});

describe('the log of refused connections', () => {
  test('has one line a minute for each reason, with the number since the last one', () => {
    let now = 0;
    const logger = recordingLogger();
    const log = new RefusalLog(logger, () => now);
    const flood = (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        log.record('too-many-connections', undefined);
      }
    };
    flood(1_000);
    log.record('too-many-connections-of-client', '192.0.2.2');
    now = 59_999;
    flood(1_000);
    now = 60_000;
    flood(1_000);
    expect(logger.records.map(({ fields }) => fields)).toMatchObject([
      { reason: 'too-many-connections', refused: 1 },
      { reason: 'too-many-connections-of-client', ip: '192.0.2.2', refused: 1 },
      { reason: 'too-many-connections', refused: 2_000 },
    ]);
  });
});
