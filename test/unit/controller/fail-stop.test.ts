import { expect, test } from '@jest/globals';

import { FailStop } from '../../../controller/fail-stop.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

test('no handler runs after one that threw, and the failure is reported once', async () => {
  const logger = recordingLogger();
  const calls: string[] = [];
  const failStop = new FailStop({ logger, onFailure: () => calls.push('failure') });
  failStop.run(() => calls.push('first'));
  failStop.run(() => {
    throw new Error('broken');
  });
  failStop.run(() => calls.push('third'));

  await expect(failStop.failed).rejects.toThrow('broken');
  expect(calls).toEqual(['first', 'failure']);
  expect(logger.records.map(({ message }) => message)).toEqual(['cannot handle a change']);
});
