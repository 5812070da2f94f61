import { describe, expect, test } from '@jest/globals';

import { ControllerLog } from '../../../../../proxy/push/connection/controller-log.ts';
import { ControllerProblemError } from '../../../../../proxy/push/connection/controller-problem.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const ADDRESS = 'gatehouse-controller:8444';
const AWAY = new Error('connect ECONNREFUSED');

function logging() {
  const logger = createRecordingLogger();
  const world = { now: 0, isServing: false };
  const log = new ControllerLog({
    logger,
    controller: ADDRESS,
    isServing: () => world.isServing,
    now: () => world.now,
  });
  const problems = () => logger.records.map(({ fields }) => fields['problem']);
  return { logger, world, log, problems };
}

describe('the log of the connection to the controller', () => {
  test('repeats a lasting problem every ten minutes, with whether a snapshot serves', () => {
    const { logger, world, log } = logging();
    for (; world.now < 25 * MINUTE; world.now += 2 * SECOND) {
      world.isServing = world.now > MINUTE;
      log.failed(AWAY, ADDRESS);
    }

    expect(logger.records.map(({ fields }) => fields['serving'])).toEqual([false, true, true]);
  });

  test('reports a different problem at once, but not a different message of the same', () => {
    const { log, problems } = logging();
    log.failed(AWAY, ADDRESS);
    log.failed(new Error('connect EHOSTUNREACH'), ADDRESS);
    log.refused({ status: 401, reason: 'invalid-token' }, ADDRESS);
    log.refused({ status: 403, reason: 'not-a-proxy' }, ADDRESS);
    log.failed(new ControllerProblemError('certificate', {}, new Error('expired')), ADDRESS);

    expect(problems()).toEqual(['unreachable', 'refused', 'certificate']);
  });

  test('reports each of two alternating problems once a minute', () => {
    const { world, log, problems } = logging();
    for (; world.now < MINUTE; world.now += 2 * SECOND) {
      log.failed(AWAY, ADDRESS);
      log.refused({ status: 503, reason: 'no-leader' }, ADDRESS);
    }

    expect(problems()).toEqual(['unreachable', 'no-leader']);
  });

  test('reports a problem again after it was over', () => {
    const { logger, log } = logging();
    log.failed(AWAY, ADDRESS);
    log.connected(ADDRESS);
    log.failed(AWAY, ADDRESS);

    expect(logger.messages('warn')).toHaveLength(2);
  });

  test('leaves out advice of Node for its own command line', () => {
    const { logger, log } = logging();
    const cause = new Error(
      'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    );
    log.failed(new ControllerProblemError('certificate', {}, cause), ADDRESS);

    expect(logger.records[0]?.fields['error']).toBe(
      'Error: unable to verify the first certificate',
    );
  });
});
